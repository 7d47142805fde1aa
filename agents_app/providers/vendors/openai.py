"""OpenAI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agents_app.providers.vendor import Vendor, VendorAccess

if TYPE_CHECKING:
    from pydantic_ai.images.base import ImageGenerationModel
    from pydantic_ai.images.settings import ImageGenerationSettings


class OpenAIVendor(Vendor):
    id = "openai"
    name = "OpenAI"
    order = 10
    address = "https://api.openai.com/v1"
    key_description = "Key of OpenAI."
    address_description = "Address of OpenAI's API."
    text_model = "gpt-6.1-terra"
    media_model = "gpt-image-2"

    def make_image_model(self, model: str, access: VendorAccess) -> ImageGenerationModel:
        from pydantic_ai.images.openai import OpenAIImageGenerationModel
        from pydantic_ai.providers.openai import OpenAIProvider

        provider = OpenAIProvider(**access)
        # `image_generation` decides on retries, because each image costs.
        provider.client.max_retries = 0
        return OpenAIImageGenerationModel(model, provider=provider)

    def image_settings(self, size: str, shape: ImageGenerationSettings) -> ImageGenerationSettings:
        from pydantic_ai.images.openai import OpenAIImageGenerationSettings

        return OpenAIImageGenerationSettings(openai_size=size, openai_quality="medium")


VENDOR: Final = OpenAIVendor()
