"""The product's AI providers, one file each. Apps add theirs in `<app>/ai_providers/`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, cast

from django.core.exceptions import ImproperlyConfigured

from agents_app.providers.interface import DEMO_PROVIDER, ProviderError
from agents_app.providers.vendor import Vendor
from proofroom.core.registry import Registry

_found = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
SHIPPED_VENDORS: Final[dict[str, Vendor]] = {
    vendor.id: vendor
    for vendor in sorted(
        (cast(Vendor, module.VENDOR) for module in _found), key=lambda vendor: vendor.order
    )
}
"""The product's vendors by id. The environment declares their variables before apps are loaded."""

_own_vendors: Final[Registry[Vendor]] = Registry("ai_providers", Vendor, key="id")


@cache
def all_vendors() -> Mapping[str, Vendor]:
    """Return all vendors by id, in the order in which the default is searched."""
    reserved = {*SHIPPED_VENDORS, DEMO_PROVIDER}
    for vendor in _own_vendors:
        if vendor.id in reserved or not vendor.id.isidentifier() or vendor.id != vendor.id.lower():
            raise ImproperlyConfigured(
                f"{vendor.__module__}: {vendor.id!r} is already defined, or has characters other than a-z, 0-9 and _."
            )
    every = [*SHIPPED_VENDORS.values(), *(vendor() for vendor in _own_vendors)]
    return {vendor.id: vendor for vendor in sorted(every, key=lambda vendor: vendor.order)}


def find_vendor(provider: str) -> Vendor:
    """Return the vendor of that id. Raises `ProviderError`."""
    vendor = all_vendors().get(provider)
    if vendor is None:
        raise ProviderError(f"There is no text provider {provider!r}.")
    return vendor
