"""Every URL under /api/ with its methods and views, read from the URL configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

NOBODY = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Address:
    path: str
    """For example `/api/posts/<post_id>`."""
    view: Any
    actions: dict[str, str]
    """Actions by upper-case method; empty for a view that is no viewset."""

    @property
    def methods(self) -> frozenset[str]:
        return frozenset(self.actions) - {"HEAD", "OPTIONS"}


def addresses() -> list[Address]:
    """Return all URLs under /api/, except the fallback."""
    found = list(_walk(get_resolver().url_patterns, "/"))
    return [item for item in found if item.path.startswith("/api/")]


def _walk(patterns: list[Any], prefix: str) -> Iterator[Address]:
    for item in patterns:
        text = prefix + str(item.pattern)
        if isinstance(item, URLResolver):
            yield from _walk(item.url_patterns, text)
        elif isinstance(item, URLPattern) and "^" not in text:
            actions = getattr(item.callback, "actions", None) or {"get": "get"}
            yield Address(
                text.replace("<str:", "<").replace("<uuid:", "<").replace("<slug:", "<"),
                getattr(item.callback, "cls", item.callback),
                {method.upper(): action for method, action in actions.items()},
            )


def filled(path: str) -> str:
    """Return the path with an unknown id in every placeholder."""
    while "<" in path:
        before, _, rest = path.partition("<")
        path = before + NOBODY + rest.partition(">")[2]
    return path
