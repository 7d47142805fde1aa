"""Anthropic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agents_app.providers.vendor import Vendor, VendorAccess

if TYPE_CHECKING:
    from pydantic_ai import ModelSettings
    from pydantic_ai.models import Model


class AnthropicVendor(Vendor):
    id = "anthropic"
    name = "Anthropic"
    order = 20
    address = "https://api.anthropic.com"
    key_description = "Key of Anthropic."
    address_description = "Address of Anthropic's API."
    text_model = "claude-sonnet-5-5"
    extra = "anthropic"
    sdk = "anthropic"

    def make_text_model(self, model: str, access: VendorAccess) -> Model:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(model, provider=AnthropicProvider(**access))

    def text_settings(self, settings: ModelSettings) -> ModelSettings:
        # Tools and instructions repeat in every step of a run, so caching them pays from the second
        # step.
        return {**settings, "anthropic_cache_instructions": True}  # type: ignore[typeddict-unknown-key]

    def model_list_request(self, address: str, key: str) -> tuple[str, dict[str, str]]:
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        return f"{address}/v1/models?limit=1000", headers


VENDOR: Final = AnthropicVendor()
