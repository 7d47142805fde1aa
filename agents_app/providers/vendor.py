"""The declaration of an AI provider: everything the product knows about a vendor of models.

Importing this module is cheap: the AI library is loaded in the methods that need it, in the worker
only.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, TypedDict

from django.utils.translation import gettext as _

from agents_app.providers.interface import ProviderChoice, ProviderError

if TYPE_CHECKING:
    import httpx2
    from django_stubs_ext import StrPromise
    from pydantic_ai import ModelSettings
    from pydantic_ai.images.base import ImageGenerationModel
    from pydantic_ai.images.settings import ImageGenerationSettings
    from pydantic_ai.models import Model


class VendorAccess(TypedDict):
    """The arguments for the AI library's providers."""

    api_key: str
    base_url: str
    http_client: httpx2.AsyncClient


class Vendor:
    """A vendor of models. Its key and address are `AI_PROVIDER_<ID>_API_KEY` and `AI_PROVIDER_<ID>_BASE_URL`."""

    id: ClassVar[str]
    name: ClassVar[str]
    label: ClassVar[str | StrPromise] = ""
    """Label in lists to choose from, if `name` is not clear enough."""
    order: ClassVar[int] = 100
    """Sort order. The first vendor with a key or an address in the environment is the default."""
    address: ClassVar[str | None] = None
    """Always given explicitly: vendors' packages would otherwise read it from undocumented environment
    variables.
    """
    key_description: ClassVar[str] = ""
    address_description: ClassVar[str] = ""
    """Descriptions of the product's own vendors in `.env.example`."""
    text_model: ClassVar[str] = ""
    """Default text model; empty if the vendor has none."""
    media_model: ClassVar[str] = ""
    """Default image model; empty if the vendor has none."""

    extra: ClassVar[str] = "openai"
    """The extra of the package that installs `sdk`: `proofroom[openai]`. Empty if the site installs it."""
    sdk: ClassVar[str] = "openai"
    """The module that `make_text_model` and `make_image_model` need beside the AI library; empty if none."""

    @property
    def key_variable(self) -> str:
        return f"AI_PROVIDER_{self.id.upper()}_API_KEY"

    @property
    def address_variable(self) -> str:
        return f"AI_PROVIDER_{self.id.upper()}_BASE_URL"

    @property
    def main_variable(self) -> str:
        """The environment variable that makes the vendor usable."""
        return self.key_variable if self.address else self.address_variable

    @property
    def missing_package(self) -> str:
        """Return a sentence with the command that installs the missing package, or "" if none is missing."""
        missing = next((name for name in ("pydantic_ai", self.sdk) if not _is_installed(name)), "")
        if not missing:
            return ""
        if not self.extra:
            return _("%(name)s needs the package %(package)s. Install it.") % {
                "name": self.name,
                "package": missing,
            }
        return _("%(name)s needs a package that is not installed. Run: %(command)s") % {
            "name": self.name,
            "command": f'pip install "proofroom[{self.extra}]"',
        }

    def make_text_model(self, model: str, access: VendorAccess) -> Model:
        """Return the AI library's text model. The default uses OpenAI's protocol."""
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(model, provider=OpenAIProvider(**access))

    def make_image_model(self, model: str, access: VendorAccess) -> ImageGenerationModel:
        """Return the AI library's image model. Raises `ProviderError`."""
        raise ProviderError(f"There is no media provider {self.id!r}.")

    def text_settings(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings of a text request, with this vendor's additions."""
        return settings

    def image_settings(self, size: str, shape: ImageGenerationSettings) -> ImageGenerationSettings:
        """Return the settings of an image request of `size`, such as `1024x1024`."""
        return shape

    def model_list_request(self, address: str, key: str) -> tuple[str, dict[str, str]]:
        """Return the URL and headers of the list of models. The default uses OpenAI's protocol."""
        return f"{address}/models", {"authorization": f"Bearer {key}"}

    def refuses_key(self, status: int, body: bytes) -> bool:
        """Return True if the answer rejects the key, if the status alone does not say so."""
        return False


def _is_installed(module: str) -> bool:
    try:
        return not module or find_spec(module) is not None
    except ModuleNotFoundError:  # the package that contains it
        return False


def address_of(vendor: Vendor, choice: ProviderChoice) -> str:
    """Return the address of the provider. Raises `ProviderError`."""
    address = choice.base_url or vendor.address
    if address is None:
        raise ProviderError(f"{vendor.id} has no address. Set {vendor.address_variable}.")
    return address


def access_to(vendor: Vendor, choice: ProviderChoice, client: httpx2.AsyncClient) -> VendorAccess:
    """Return the arguments to connect to the provider of a choice. Raises `ProviderError`."""
    address = address_of(vendor, choice)
    # Servers without keys still require a non-empty header.
    return {"api_key": choice.key or "none", "base_url": address, "http_client": client}
