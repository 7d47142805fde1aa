"""API views that are imported at their first request.

With their bodies and descriptions they are a fifth of what a process would import at startup, and pages of the site
need none. `manage.py check` imports all of them, so that broken ones are found before their first request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.core.checks import CheckMessage, Error, Tags, register
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from rest_framework.views import APIView

_loading: Final = RLock()
"""Allows one import at a time: circular imports of libraries would let a second thread see a half-imported module."""


class LazyView:
    """The view at a dotted path, like `proofroom.core.api.schema_views.SchemaView`."""

    # As on every DRF view: the session authentication checks the CSRF token itself.
    csrf_exempt: ClassVar[bool] = True
    initkwargs: ClassVar[Mapping[str, object]] = {}

    def __init__(self, path: str) -> None:
        self.path = path

    @cached_property
    def cls(self) -> type[APIView]:
        with _loading:
            found: type[APIView] = import_string(self.path)
        return found

    @cached_property
    def _view(self) -> Any:
        return self.cls.as_view()

    def __call__(self, request: HttpRequest, **arguments: str) -> HttpResponseBase:
        response: HttpResponseBase = self._view(request, **arguments)
        return response


class LazyActions(LazyView):
    """Actions of a viewset at a URL, by method."""

    def __init__(self, path: str, actions: dict[str, str]) -> None:
        super().__init__(path)
        self.actions = actions

    @cached_property
    def _view(self) -> Any:
        return self.cls.as_view(self.actions)  # type: ignore[call-arg]  # a subclass of ViewSet


class LazyViewSet:
    """A placeholder for a viewset in `urlpatterns`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def as_view(self, actions: dict[str, str]) -> LazyActions:
        return LazyActions(self.path, actions)


def _lazy_views(patterns: Sequence[URLPattern | URLResolver]) -> Iterator[LazyView]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _lazy_views(pattern.url_patterns)
        elif isinstance(pattern.callback, LazyView):
            yield pattern.callback


@register(Tags.urls)
def check_lazy_views(**options: object) -> list[CheckMessage]:
    """Import all lazy views and report actions that have no method."""
    found: list[CheckMessage] = []
    for view in _lazy_views(get_resolver().url_patterns):
        cls = view.cls
        actions = view.actions.values() if isinstance(view, LazyActions) else ()
        found += [
            Error(f"{view.path} has no action {action!r}.", id="proofroom_core.E003")
            for action in actions
            if not hasattr(cls, action)
        ]
    return found
