"""The addresses of the site that a view answers, besides the pages of posts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.urls import Resolver404, resolve

_PAGE: Final = "page"
"""Name of the catch-all address of pages."""


def view_paths(paths: Collection[str]) -> set[str]:
    """Return the paths that the site itself or an app answers. No query."""
    return {path for path in paths if _has_view(path)}


def _has_view(path: str) -> bool:
    # Canonical paths have no trailing slash, which the addresses of an app may need.
    for address in (path, f"{path.rstrip('/')}/"):
        try:
            if resolve(address).url_name != _PAGE:
                return True
        except Resolver404:
            continue
    return False
