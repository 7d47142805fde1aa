"""A check for packages of a site that have the same names as the product's."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from django.core.exceptions import ImproperlyConfigured

ROOT: Final = Path(__file__).resolve().parents[1]
OWN_PACKAGES: Final = (
    "agents_app",
    "analytics",
    "content",
    "forms",
    "mcp_bridge",
    "media",
    "proofroom",
    "proofroom_apps",
    "seo",
)


def require_own_packages(names: Iterable[str] = OWN_PACKAGES) -> None:
    """Raise `ImproperlyConfigured` if another package comes first on the path under one of these names."""
    # Otherwise Django would load the other package and fail later with a missing module.
    for name in names:
        spec = PathFinder.find_spec(name)
        places = list(spec.submodule_search_locations or [spec.origin or ""]) if spec else []
        if places and ROOT / name not in [Path(place).resolve() for place in places]:
            raise ImproperlyConfigured(
                f"The package {name!r} at {places[0]} hides the product's package at {ROOT / name}. "
                "Rename it."
            )
