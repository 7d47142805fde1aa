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
from proofroom.core.database.compiled_queries import new_instance
from proofroom.core.database.inserts import insert_rows
from proofroom.core.hooks import ExtensionPoint, Hook
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.live_effects import Effect
from proofroom.core.outbox.wake_ups import wake_dispatch


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event, and where its events appear.

    `label` is its name for people. `permission` is required to see its events. `version` grows with each change
    of the payload that receivers could notice.
    """

    name: str
    label: str
    permission: str
    version: int = 1
    is_live: bool = False
    """True if it changes public content and so invalidates cached answers."""
    effect: Effect | None = None
    """Returns what visitors see differently after an event. Every live kind has one."""
    is_webhook: bool = False
    """True if webhooks may subscribe to it."""
    webhook_name: str = ""
    """Its name for webhooks and workflows, if another kind of the activity log has that name."""
    is_trigger: bool = False
    """True if it is a scope that starts agents."""
    is_private: bool = False
    """True if its payload contains text from visitors, which the activity log must not show."""
    internal_keys: tuple[str, ...] = ()
    """Keys of its payload that receivers of webhooks and workflows do not get."""
    is_internal: bool = False
    """True if it only passes work on and is not an action of a user."""
    is_progress: bool = False
    """True if open pages are notified of it although it is internal, to show progress."""

    @property
    def public_name(self) -> str:
        """Its name for webhooks and workflows."""
        return self.webhook_name or self.name


def all_kinds() -> Iterable[EventKind]:
    """Return all kinds in order of name."""
    return _kinds().values()


def find_kind(name: str) -> EventKind | None:
    return _kinds().get(name)


def public_name_of(name: str) -> str:
    """Return the name of an event for webhooks and workflows."""
    kind = _kinds().get(name)
    return kind.public_name if kind is not None else name


def public_payload_of(event: Event) -> JsonObject:
    """Return the payload of an event for webhooks and workflows."""
    kind = _kinds().get(event.name)
    hidden = kind.internal_keys if kind is not None else ()
    return {key: value for key, value in event.payload.items() if key not in hidden}


def recorded_names(public_names: Collection[str]) -> list[str]:
    """Return the names under which events are stored that webhooks know by these names."""
    return [
        kind.name
        for kind in _kinds().values()
        if kind.is_webhook and kind.public_name in public_names
    ]


def kind_of(name: str) -> EventKind:
    """Return the kind with this name. Raises `ImproperlyConfigured`, because only declared kinds are recorded."""
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
            # The app has no such module. An import error inside of one must not be hidden.
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
    """A function called after the transaction of the cause, with one event or with many.

    `id` is stored in `Event.told`. It must not change when the function is moved or renamed: events that were partly
    delivered would be delivered to it again. With `is_apart` the function runs outside of any transaction.
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
    """Call `call(event)` in a task, after the transaction of each event with one of these names.

    Its writes are in the same transaction as the mark of the delivery, so they are stored exactly once. It must not
    call other systems itself, but write a row that another task picks up. With `apart`, for long work, it runs
    outside of any transaction and may run twice. Events of one post are delivered in order.
    """
    _register(names, Subscriber(id, call, is_apart=apart))


def subscribe_to_many(
    names: Iterable[str], call: Callable[[Sequence[Event]], None], *, id: str
) -> None:
    """Like `subscribe`, but `call(events)` gets all events of a transaction, oldest first.

    If it fails, its writes are rolled back, and it is called again with each event alone.
    """
    _register(names, Subscriber(id, call_many=call))


def _register(names: Iterable[str], subscriber: Subscriber) -> None:
    for name in names:
        if _subscribers[name].get(subscriber.id) not in (None, subscriber):
            raise ImproperlyConfigured(f"Two subscribers of {name} have the id {subscriber.id}.")
        _subscribers[name].register(subscriber, name=subscriber.id)


def subscribers_of(name: str) -> list[Subscriber]:
    return list(_subscribers.get(name, ()))


_inside: dict[str, Hook[[Event], None]] = defaultdict(Hook)
events_forgotten: Hook[[list[int]], None] = Hook()
"""Called in the same transaction with the ids of the events whose text must be deleted."""


def subscribe_in_transaction(names: Iterable[str], subscriber: Callable[[Event], None]) -> None:
    """Call `subscriber(event)` in the transaction of each event with one of these names.

    For changes that belong to the cause, like the redirect of a moved URL. An exception rolls back the cause.
    """
    for name in names:
        _inside[name].register(subscriber)


EVENTS_CHANNEL = "events"
"""Channel of the notification that an event was recorded. A trigger of the PostgreSQL table sends it."""


def record(
    name: str,
    *,
    actor: Actor,
    payload: JsonObject,
    post_id: UUID | str | None = None,
    tags: Collection[str] = (EVERYTHING,),
) -> Event:
    """Record an event in the caller's transaction, and wake a worker after the commit.

    `tags` are the tags of changed public content, for kinds that are live.
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
    """Record several events with the same payload in one statement. Otherwise like `record`.

    Without `tags` no cached answers are invalidated, for callers that have done so already.
    """
    kinds = [kind_of(name) for name in names]
    events = [_event(kind, actor, payload, post_id) for kind in kinds]
    _store(events, tags if tags and any(kind.is_live for kind in kinds) else None)
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
    """Record one event per pair of post id and payload, in few statements and messages. Otherwise like `record`.

    Without `tags` no cached answers are invalidated, for callers that have done so already.
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
    """Insert events of a cause, and invalidate the cached answers of `tags` unless it is None."""
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
        # Events without subscribers, which are most, need no dispatch.
        dispatched_at=None if subscribers_of(kind.name) else now,
    )


def forget(event_ids: Iterable[int]) -> None:
    """Erase the payloads of these events, and stop their delivery."""
    # Lock in the same order as the dispatcher, which avoids deadlocks.
    rows = Event.objects.select_for_update(no_key=True).filter(pk__in=list(event_ids))
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    now = timezone.now()
    Event.objects.filter(pk__in=ids).update(
        payload={}, forgotten_at=now, dispatched_at=Coalesce("dispatched_at", now)
    )
    events_forgotten(ids)
