"""Google."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agents_app.providers.vendor import Vendor, VendorAccess

if TYPE_CHECKING:
    from pydantic_ai.images.base import ImageGenerationModel
    from pydantic_ai.models import Model


class GoogleVendor(Vendor):
    id = "google"
    name = "Google"
    order = 30
    address = "https://generativelanguage.googleapis.com"
    key_description = "Key of Google."
    address_description = "Address of Google's API."
    text_model = "gemini-3.8-flash"
    media_model = "gemini-3.1-flash-image"
    extra = "google"
    sdk = "google.genai"

    def make_text_model(self, model: str, access: VendorAccess) -> Model:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(model, provider=GoogleProvider(**access))

    def make_image_model(self, model: str, access: VendorAccess) -> ImageGenerationModel:
        from pydantic_ai.images.google import GoogleImageGenerationModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleImageGenerationModel(model, provider=GoogleProvider(**access))

    def model_list_request(self, address: str, key: str) -> tuple[str, dict[str, str]]:
        return f"{address}/v1beta/models?pageSize=1000", {"x-goog-api-key": key}

    def refuses_key(self, status: int, body: bytes) -> bool:
        # Google reports an invalid key with status 400, like any invalid request.
        return status == 400 and b"API_KEY_INVALID" in body


VENDOR: Final = GoogleVendor()
