"""Events: their kinds, their subscribers, and their rows, written in the transaction of their cause."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models.functions import Coalesce
from django.utils import timezone

from proofroom.core.actor import Actor
from proofroom.core.caching.content_tags import EVERYTHING
from proofroom.core.caching.content_version import bump_content_version
from proofroom.core.database.inserts import insert_rows
from proofroom.core.database.statements import new_instance
from proofroom.core.hooks import ExtensionPoint, Hook
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.wake_ups import wake_dispatch


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event, and who is told of it.

    `label` is what people read. `permission` is what an account needs to learn that it happened. `version` grows
    with every change of the payload's shape that a receiver would notice.
    """

    name: str
    label: str
    permission: str
    version: int = 1
    is_live: bool = False
    """Whether it changes what visitors see: it makes every cached answer old."""
    is_webhook: bool = False
    """Whether subscribers of webhooks may choose it."""
    is_trigger: bool = False
    """Whether it is a scope that starts agents."""
    is_private: bool = False
    """Whether its payload holds words of visitors, which no log shows."""
    is_internal: bool = False
    """Whether it only hands work on, and is nothing that somebody did."""
    is_progress: bool = False
    """Whether open pages hear of it although it is internal: that something goes on."""


def all_kinds() -> Iterable[EventKind]:
    """Every kind, in order of name."""
    return _kinds().values()


def find_kind(name: str) -> EventKind | None:
    return _kinds().get(name)


def kind_of(name: str) -> EventKind:
    """The kind of that name. Raises `ImproperlyConfigured`: what nobody declared is not recorded."""
    kind = _kinds().get(name)
    if kind is None:
        raise ImproperlyConfigured(f"No app declares the event {name!r} in its event_kinds.py.")
    return kind


@cache
def _kinds() -> dict[str, EventKind]:
    found: dict[str, EventKind] = {}
    for app in apps.get_app_configs():
        module_name = f"{app.name}.event_kinds"
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name == module_name:
                continue
            raise
        for kind in module.KINDS:
            if kind.name in found:
                raise ImproperlyConfigured(f"The event {kind.name!r} is declared twice.")
            found[kind.name] = kind
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A function that is called after the transaction of its cause, with an event or with many at once.

    `id` is stored in `Event.told`. It stays the same when the function is moved or renamed: with another id, events
    that are only partly told would be told to it a second time.
    """

    id: str
    call: Callable[[Event], None] | None = None
    call_many: Callable[[Sequence[Event]], None] | None = None
    is_apart: bool = False

    def tell(self, events: Sequence[Event]) -> None:
        if self.call_many is not None:
            self.call_many(events)
        if self.call is not None:
            for event in events:
                self.call(event)


_subscribers: dict[str, ExtensionPoint[Subscriber]] = defaultdict(ExtensionPoint)


def subscribe(
    names: Iterable[str], call: Callable[[Event], None], *, id: str, apart: bool = False
) -> None:
    """Have `call(event)` called, from a task, after the transaction of each event of these names.

    What it writes stands or falls with the note that it was told, so it is done once; a call to another system it
    leaves to a row that another task takes up. One that works long, `apart`, is told in no transaction, and may be
    told twice. Of the events of one post it is told in their order.
    """
    _register(names, Subscriber(id, call, is_apart=apart))


def subscribe_to_many(
    names: Iterable[str], call: Callable[[Sequence[Event]], None], *, id: str
) -> None:
    """Like `subscribe`, but `call(events)` is told of all that one transaction takes up, oldest first.

    Where it fails, what it wrote is undone, and it is told of the same events again, one at a time.
    """
    _register(names, Subscriber(id, call_many=call))


def _register(names: Iterable[str], subscriber: Subscriber) -> None:
    for name in names:
        if _subscribers[name].get(subscriber.id) not in (None, subscriber):
            raise ImproperlyConfigured(f"Two subscribers of {name} are called {subscriber.id}.")
        _subscribers[name].register(subscriber, name=subscriber.id)


def subscribers_of(name: str) -> list[Subscriber]:
    return list(_subscribers.get(name, ()))


_inside: dict[str, Hook[[Event], None]] = defaultdict(Hook)
events_forgotten: Hook[[list[int]], None] = Hook()
"""Called in the same transaction with the ids of the events whose words must be gone."""


def subscribe_inside(names: Iterable[str], subscriber: Callable[[Event], None]) -> None:
    """Have `subscriber(event)` called in the transaction of each event of these names.

    For what must stand or fall with its cause, like the redirect of an address that moved. What the subscriber
    raises undoes the cause.
    """
    for name in names:
        _inside[name].register(subscriber)


EVENTS_CHANNEL = "events"
"""Of the notification that something was recorded, which PostgreSQL sends by a trigger of the table."""


def record(
    name: str,
    *,
    actor: Actor,
    payload: JsonObject,
    post_id: UUID | str | None = None,
    tags: Collection[str] = (EVERYTHING,),
) -> Event:
    """Write the event with its cause, in the caller's transaction, and wake a worker after the commit.

    `tags` name what visitors see otherwise than before, where the event is of such a kind.
    """
    [event] = record_each([name], actor=actor, payload=payload, post_id=post_id, tags=tags)
    return event


def record_each(
    names: Iterable[str],
    *,
    actor: Actor,
    payload: JsonObject,
    post_id: UUID | str | None = None,
    tags: Collection[str] = (EVERYTHING,),
) -> list[Event]:
    """Write the events of one cause, which say the same under several names, in one statement; else like `record`."""
    kinds = [kind_of(name) for name in names]
    events = [_event(kind, actor, payload, post_id) for kind in kinds]
    _store(events, tags if any(kind.is_live for kind in kinds) else None)
    for event in events:
        _inside[event.name](event)
    wake_dispatch([event for event in events if event.dispatched_at is None])
    return events


def record_all(
    name: str,
    things: Iterable[tuple[UUID | str | None, JsonObject]],
    *,
    actor: Actor,
    tags: Collection[str] = (EVERYTHING,),
) -> list[Event]:
    """Write one event for each pair of post id and payload, in few statements and messages; else like `record`.

    Without `tags` cached answers stay: for events whose cause made them old.
    """
    kind = kind_of(name)
    made = [_event(kind, actor, payload, post_id) for post_id, payload in things]
    _store(made, tags if made and tags and kind.is_live else None)
    for subscriber in _inside[name]:
        for event in made:
            subscriber(event)
    if not subscribers_of(name):
        return made
    wake_dispatch(made)
    return made


def _store(events: Sequence[Event], tags: Collection[str] | None) -> None:
    """Store events of a cause, which makes old what `tags` name where it is a change of live content."""
    if tags is None:
        insert_rows(events)
    else:
        bump_content_version(tags, events)


def _event(kind: EventKind, actor: Actor, payload: JsonObject, post_id: UUID | str | None) -> Event:
    now = timezone.now()
    return new_instance(
        Event,
        name=kind.name,
        version=kind.version,
        post_id=post_id,
        payload=payload,
        actor_id=actor.user.pk,
        actor_name=actor.user.username,
        via=actor.via,
        credential=actor.credential,
        agent_id=actor.agent_id or "",
        run_id=actor.run_id or "",
        cause_id=actor.event_id,
        hop=actor.hop,
        created_at=now,
        # Nobody waits to be told of most of them.
        dispatched_at=None if subscribers_of(kind.name) else now,
    )


def forget(event_ids: Iterable[int]) -> None:
    """Empty the payloads of events whose words must be gone; nobody is told of them any more."""
    # Locked in the order in which those who tell of them lock them.
    rows = Event.objects.select_for_update(no_key=True).filter(pk__in=list(event_ids))
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    now = timezone.now()
    Event.objects.filter(pk__in=ids).update(
        payload={}, forgotten_at=now, dispatched_at=Coalesce("dispatched_at", now)
    )
    events_forgotten(ids)
