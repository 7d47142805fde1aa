"""Ollama, and any server that speaks OpenAI's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext_lazy

from agents_app.providers.vendor import Vendor, VendorAccess

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class OllamaVendor(Vendor):
    id = "ollama"
    name = "Ollama"
    label = gettext_lazy("Ollama or any OpenAI-compatible server")
    order = 40
    key_description = "Key, if the server needs one."
    address_description = "Address of any OpenAI-compatible server."
    text_model = "llama3.2"

    def make_text_model(self, model: str, access: VendorAccess) -> Model:
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(model, provider=OllamaProvider(**access))


VENDOR: Final = OllamaVendor()
