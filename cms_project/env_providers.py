"""Variables about AI providers: a key and an address for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model
from pydantic_settings import BaseSettings

from agents_app.providers.vendors import VENDORS
from cms_project.env_values import Url, secret


class _Providers(BaseSettings):
    def api_key(self, provider: str) -> str | None:
        """Return the provider's key, where one is set."""
        key: str | None = getattr(self, f"ai_provider_{provider}_api_key")
        return key

    def base_url(self, provider: str) -> str | None:
        """Return the provider's address, where it is not the usual one."""
        url: str | None = getattr(self, f"ai_provider_{provider}_base_url")
        return url

    def has_provider(self, provider: str) -> bool:
        """Return whether the provider has a key or an address."""
        return bool(self.api_key(provider) or self.base_url(provider))

    @property
    def configured_providers(self) -> list[str]:
        return [provider for provider in VENDORS if self.has_provider(provider)]


if TYPE_CHECKING:
    ProviderEnvironment = _Providers
else:
    fields: dict[str, Any] = {}
    for vendor in VENDORS.values():
        fields[vendor.key_variable.lower()] = (str | None, secret(vendor.key_description))
        address = Field(None, description=vendor.address_description)
        fields[vendor.address_variable.lower()] = (Url | None, address)
    ProviderEnvironment = create_model("ProviderEnvironment", __base__=_Providers, **fields)
