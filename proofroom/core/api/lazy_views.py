"""Views of the API that are loaded by whoever asks for them first.

With their bodies and descriptions they are a fifth of what a process would load at its start, and a visitor's page
needs none. `manage.py check` loads all of them, so that none that is broken waits for a request to say so.
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
"""One thread at a time: libraries import themselves by way of others, which two at once would find half made."""


class LazyView:
    """The view that `path` names, like `proofroom.core.api.schema_views.SchemaView`."""

    # As of any view of DRF, which checks the token of sessions itself.
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
    """Actions of a viewset at an address, by method."""

    def __init__(self, path: str, actions: dict[str, str]) -> None:
        super().__init__(path)
        self.actions = actions

    @cached_property
    def _view(self) -> Any:
        return self.cls.as_view(self.actions)  # type: ignore[call-arg]  # the class is one of `ViewSet`


class LazyViewSet:
    """Stands for a viewset in `urlpatterns`."""

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
    """Load every view, and say which action none of its methods is."""
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
