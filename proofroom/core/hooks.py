"""Hooks: places where an app runs what apps above it have registered at start.

The app below declares the hook beside the code that runs it, and knows nobody who registers:

    layers_written: Hook[[Post, Sequence[LayerView]], None] = Hook()

Another app registers from its `AppConfig.ready`, or as a decorator:

    layers_written.register(update_inbox)

What is called with arguments is a `Hook`; what is an object, such as a source of texts, is registered with an
`ExtensionPoint`. Nothing is registered twice when `ready` runs again: what is equal counts once, and a name has one
item, the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

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
        """Add an item, and return it. `get` finds it by its `name`, where it takes the place of another one."""
        entry = _Entry(item, name, order)
        if entry not in self._entries:
            kept = [each for each in self._entries if not name or each.name != name]
            self._entries = sorted([*kept, entry], key=lambda each: each.order)
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
        """Register items for the length of a test. With `alone`, nothing else is registered meanwhile."""
        before = self._entries
        self._entries = [] if alone else before
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
