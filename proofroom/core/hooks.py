"""Hooks: points where an app runs functions that other apps registered at startup.

The lower app declares the hook next to the code that runs it, and does not import the apps that register:

    layers_written: Hook[[Post, Sequence[LayerView]], None] = Hook()

Another app registers in its `AppConfig.ready`, or as a decorator:

    layers_written.register(update_inbox)

Use a `Hook` for functions to call, and an `ExtensionPoint` for objects such as sources of texts. Registering twice,
as when `ready` runs again, has no effect: an equal item is added once, and a name refers to its last item.
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
    """Objects registered by apps, sorted by `order` and then by registration."""

    def __init__(self) -> None:
        self._entries: list[_Entry[T]] = []

    def register(self, item: T, *, name: str = "", order: int = 0) -> T:
        """Add and return an item. `get` finds it by its `name`; it replaces an item with the same name."""
        entry = _Entry(item, name, order)
        if entry not in self._entries:
            others = [each for each in self._entries if not name or each.name != name]
            self._entries = sorted([*others, entry], key=lambda each: each.order)
        return item

    def get(self, name: str) -> T | None:
        """Return the item with this name; None if there is none."""
        return next((entry.item for entry in self._entries if entry.name == name), None)

    def __iter__(self) -> Iterator[T]:
        return iter([entry.item for entry in self._entries])

    @contextmanager
    def registered_temporarily(
        self, *items: T, name: str = "", alone: bool = False
    ) -> Iterator[None]:
        """Register items for the block, in a test. With `alone` all other items are hidden."""
        before = self._entries
        # `register` replaces the list, so `before` stays unchanged.
        self._entries = [] if alone else before
        try:
            for item in items:
                self.register(item, name=name)
            yield
        finally:
            self._entries = before


class Hook(ExtensionPoint[Callable[P, R]], Generic[P, R]):
    """Functions called one after the other with the same arguments."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Call all functions and return their results. An exception ends the call."""
        return [entry.item(*args, **kwargs) for entry in self._entries]
