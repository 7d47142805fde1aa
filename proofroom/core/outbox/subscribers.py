"""The subscribers of events, each with the fixed id under which events note that it was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

from proofroom.core.hooks import ExtensionPoint
from proofroom.core.models import Event


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A function that is called with an event after the transaction of its cause.

    `id` is stored in `Event.told`. It stays the same when the function is moved or renamed: with another id, events
    that are only partly told would be told to it a second time.
    """

    id: str
    call: Callable[[Event], None]
    is_apart: bool = False


_subscribers: dict[str, ExtensionPoint[Subscriber]] = defaultdict(ExtensionPoint)


def subscribe(
    names: Iterable[str], call: Callable[[Event], None], *, id: str, apart: bool = False
) -> None:
    """Have `call(event)` called, from a task, after the transaction of each event of these names.

    What it writes stands or falls with the note that it was told, so it is done once; a call to another system it
    leaves to a row that another task takes up. One that works long, `apart`, is told in no transaction, and may be
    told twice. Of the events of one post it is told in their order.
    """
    subscriber = Subscriber(id, call, is_apart=apart)
    for name in names:
        if _subscribers[name].get(id) not in (None, subscriber):
            raise ImproperlyConfigured(f"Two subscribers of {name} are called {id}.")
        _subscribers[name].register(subscriber, name=id)


def subscribers_of(name: str) -> list[Subscriber]:
    return list(_subscribers.get(name, ()))
