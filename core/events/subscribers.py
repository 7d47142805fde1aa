"""Who is told of an event after the transaction of its cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from django.core.exceptions import ImproperlyConfigured

from core.models import Event

Subscriber = Callable[[Event], None]
_subscribers: dict[str, list[Subscriber]] = defaultdict(list)
_apart: set[Subscriber] = set()


def subscribe(names: Iterable[str], subscriber: Subscriber, *, apart: bool = False) -> None:
    """Have `subscriber(event)` called, from a task, after the transaction of each event of these names.

    What it writes stands or falls with the note that it was told, so it is done once; a call to another system it
    leaves to a row that another task takes up. One that works long, `apart`, is told in no transaction, and may be
    told twice. Of the events of one post it is told in their order.
    """
    if apart:
        _apart.add(subscriber)
    for name in names:
        if subscriber in _subscribers[name]:
            continue
        if name_of(subscriber) in map(name_of, _subscribers[name]):
            raise ImproperlyConfigured(
                f"Two subscribers of {name} are called {name_of(subscriber)}."
            )
        _subscribers[name].append(subscriber)


def subscribers_of(name: str) -> list[Subscriber]:
    return list(_subscribers[name]) if name in _subscribers else []


def is_apart(subscriber: Subscriber) -> bool:
    return subscriber in _apart


def name_of(subscriber: Subscriber) -> str:
    """What the event calls it, once it was told."""
    return f"{subscriber.__module__}.{subscriber.__qualname__}"
