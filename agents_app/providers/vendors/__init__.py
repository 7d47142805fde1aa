"""The AI providers: one file each, whose `VENDOR` is found by being here."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final, cast

from agents_app.providers.interface import ProviderError
from agents_app.providers.vendor import Vendor

_found = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
VENDORS: Final[dict[str, Vendor]] = {
    vendor.id: vendor
    for vendor in sorted(
        (cast(Vendor, module.VENDOR) for module in _found), key=lambda vendor: vendor.order
    )
}
"""By id, in the order in which the environment's default is looked for."""


def find_vendor(provider: str) -> Vendor:
    """Return the vendor of that id. Raises `ProviderError`."""
    vendor = VENDORS.get(provider)
    if vendor is None:
        raise ProviderError(f"There is no text provider {provider!r}.")
    return vendor
