"""Subscribers of events that record their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.core.outbox import events


class Listener:
    """Records the names and posts of its events; `fails` selects events it refuses."""

    def __init__(
        self, name: str = "listener", fails: Callable[[Event], bool] | None = None
    ) -> None:
        self.name = name
        self.fails = fails or (lambda event: False)
        self.heard: list[Event] = []
        self.refused = 0

    def __call__(self, event: Event) -> None:
        if self.fails(event):
            self.refused += 1
            raise RuntimeError("not now")
        self.heard.append(event)

    @property
    def ids(self) -> list[int]:
        return [event.pk for event in self.heard]


class ListenerOfMany(Listener):
    """Takes many events at once, and records the number per call."""

    def __init__(self, name: str = "many", fails: Callable[[Event], bool] | None = None) -> None:
        super().__init__(name, fails)
        self.sizes: list[int] = []

    def take(self, events: Sequence[Event]) -> None:
        self.sizes.append(len(events))
        for event in events:
            self(event)


def subscribe_to_many(names: Iterable[str], listener: ListenerOfMany) -> None:
    outbox.subscribe_to_many(names, listener.take, id=f"tests.core.listening.{listener.name}")


def subscribe(names: Iterable[str], listener: Listener, *, apart: bool = False) -> None:
    """Subscribe a listener under its name as id."""
    name = getattr(listener, "name", None) or getattr(listener, "__name__", "")
    outbox.subscribe(names, listener, id=f"tests.core.listening.{name}", apart=apart)


@contextmanager
def own_subscriptions() -> Iterator[None]:
    """In the block, only subscribers of the block receive events."""
    before = dict(events._subscribers)
    events._subscribers.clear()
    try:
        yield
    finally:
        events._subscribers.clear()
        events._subscribers.update(before)
