"""The URLs of the admin, loaded on demand."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import admin
from django.urls import URLPattern, URLResolver
from django.urls.resolvers import RoutePattern


class AdminURLs(URLResolver):
    """A resolver for `admin.site.urls` at a route. Resolving or reversing other URLs does not load the admin."""

    def __init__(self, route: str) -> None:
        site = admin.site
        super().__init__(
            RoutePattern(route, is_endpoint=False), [], app_name="admin", namespace=site.name
        )

    @cached_property
    def url_patterns(self) -> list[URLPattern | URLResolver]:
        return admin.site.get_urls()

    def _populate(self) -> None:
        # The parent resolver calls this for every name that it looks up. Of a namespace, it needs only the name.
        # its name.
        if "url_patterns" in self.__dict__:
            super()._populate()

    @property
    def reverse_dict(self) -> Any:
        return self._loaded().reverse_dict

    @property
    def namespace_dict(self) -> Any:
        return self._loaded().namespace_dict

    @property
    def app_dict(self) -> Any:
        return self._loaded().app_dict

    def _loaded(self) -> Any:
        """Return the resolver with its patterns loaded."""
        _ = self.url_patterns
        return super()
