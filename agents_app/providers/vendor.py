"""The declaration of an AI provider: everything that the product knows of a vendor of models.

Importing this file is cheap: the AI library is loaded in the methods that need it, in the worker only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypedDict

from agents_app.providers.interface import ProviderChoice, ProviderError

if TYPE_CHECKING:
    import httpx2
    from django_stubs_ext import StrPromise
    from pydantic_ai import ModelSettings
    from pydantic_ai.images.base import ImageGenerationModel
    from pydantic_ai.images.settings import ImageGenerationSettings
    from pydantic_ai.models import Model


class VendorAccess(TypedDict):
    """The way to a vendor, as the providers of the AI library take it."""

    api_key: str
    base_url: str
    http_client: httpx2.AsyncClient


class Vendor:
    """A vendor of models. Its key and address are `AI_PROVIDER_<ID>_API_KEY` and `AI_PROVIDER_<ID>_BASE_URL`."""

    id: ClassVar[str]
    name: ClassVar[str]
    label: ClassVar[str | StrPromise] = ""
    """The name in lists to choose from, where `name` alone says too little."""
    order: ClassVar[int] = 100
    """The first vendor that the environment has a key or an address for is the default."""
    address: ClassVar[str | None] = None
    """Said outright: vendors' own packages would else look for one in variables that nobody here documents."""
    key_description: ClassVar[str] = ""
    address_description: ClassVar[str] = ""
    """What `.env.example` says of the variables of the product's own vendors."""
    text_model: ClassVar[str] = ""
    """The usual model of text; empty for a vendor that has none."""
    media_model: ClassVar[str] = ""
    """The usual model of images; empty for a vendor that has none."""

    @property
    def key_variable(self) -> str:
        return f"AI_PROVIDER_{self.id.upper()}_API_KEY"

    @property
    def address_variable(self) -> str:
        return f"AI_PROVIDER_{self.id.upper()}_BASE_URL"

    @property
    def main_variable(self) -> str:
        """The variable that makes it usable."""
        return self.key_variable if self.address else self.address_variable

    def make_text_model(self, model: str, access: VendorAccess) -> Model:
        """Return the AI library's model that answers with words: one that speaks OpenAI's protocol."""
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(model, provider=OpenAIProvider(**access))

    def make_image_model(self, model: str, access: VendorAccess) -> ImageGenerationModel:
        """Return the AI library's model that answers with a picture. Raises `ProviderError`."""
        raise ProviderError(f"There is no media provider {self.id!r}.")

    def text_settings(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings of a request for words, with what this vendor adds to those of all."""
        return settings

    def image_settings(self, size: str, shape: ImageGenerationSettings) -> ImageGenerationSettings:
        """Return the settings of a request for a picture of `size`, such as `1024x1024`."""
        return shape

    def model_list_request(self, address: str, key: str) -> tuple[str, dict[str, str]]:
        """Return the address of the list of models and the headers to ask it with: those of OpenAI's protocol."""
        return f"{address}/models", {"authorization": f"Bearer {key}"}

    def refuses_key(self, status: int, body: bytes) -> bool:
        """Return whether an answer refuses the key, where its status does not say so already."""
        return False


def address_of(vendor: Vendor, choice: ProviderChoice) -> str:
    """Return the address of the provider. Raises `ProviderError`."""
    address = choice.base_url or vendor.address
    if address is None:
        raise ProviderError(f"{vendor.id} has no address. Set {vendor.address_variable}.")
    return address


def access_to(vendor: Vendor, choice: ProviderChoice, client: httpx2.AsyncClient) -> VendorAccess:
    """Return the way to the provider of a choice. Raises `ProviderError`."""
    address = address_of(vendor, choice)
    # Servers without keys still need the header to hold something.
    return {"api_key": choice.key or "none", "base_url": address, "http_client": client}
