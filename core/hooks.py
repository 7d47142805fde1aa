"""Hooks: places where an app runs what apps above it have registered at start.

The app below declares the hook beside the code that runs it, and knows nobody who registers:

    layers_written: Hook[[Post, Sequence[LayerView]], None] = Hook()

Another app registers from its `AppConfig.ready`, or as a decorator:

    layers_written.register(update_inbox)

What is called with arguments is a `Hook`; what is an object, such as a source of texts, is registered with an
`ExtensionPoint`. What is registered once more is the same registration, so that `ready` may run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    item: T
    name: str
    order: int


class ExtensionPoint(Generic[T]):
    """Objects that apps have registered, in the order of `order` and then of registration."""

    def __init__(self) -> None:
        self._entries: list[_Entry[T]] = []

    def register(self, item: T, *, name: str = "", order: int = 0) -> T:
        """Add an item, and return it. A `name` finds it by `get`, and belongs to one item only."""
        entry = _Entry(item, name, order)
        if entry in self._entries:
            return item
        if name and self.get(name) is not None:
            raise ImproperlyConfigured(f"two extensions are registered as {name!r}")
        self._entries = sorted([*self._entries, entry], key=lambda each: each.order)
        return item

    def get(self, name: str) -> T | None:
        """The item that was registered under this name."""
        return next((entry.item for entry in self._entries if entry.name == name), None)

    def __iter__(self) -> Iterator[T]:
        return iter([entry.item for entry in self._entries])

    @contextmanager
    def registered_temporarily(
        self, *items: T, name: str = "", alone: bool = False
    ) -> Iterator[None]:
        """Register items for the length of a test. With `alone`, nothing else is registered meanwhile.

        A name that is taken leads to the item of the test meanwhile.
        """
        before = self._entries
        kept = [] if alone else [entry for entry in before if not name or entry.name != name]
        self._entries = kept
        try:
            for item in items:
                self.register(item, name=name)
            yield
        finally:
            self._entries = before


class Hook(ExtensionPoint[Callable[P, R]], Generic[P, R]):
    """Functions that are called one after the other, with the same arguments."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Call every function, and return what they return. What one raises ends the call."""
        return [entry.item(*args, **kwargs) for entry in self._entries]
