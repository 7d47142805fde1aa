"""Writing events, in the transaction of their cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from uuid import UUID

from django.db.models.functions import Coalesce
from django.utils import timezone

from proofroom.core.actor import Actor
from proofroom.core.hooks import Hook
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.content_version import bump_content_version
from proofroom.core.outbox.event_kinds import EventKind, kind_of
from proofroom.core.outbox.subscribers import subscribers_of
from proofroom.core.task_queue.wake_up import queue_task, send_after_commit

_inside: dict[str, Hook[[Event], None]] = defaultdict(Hook)
events_forgotten: Hook[[list[int]], None] = Hook()
"""Called in the same transaction with the ids of the events whose words must be gone."""
_PER_MESSAGE = 100
"""Events that one message to a worker names."""


def subscribe_inside(names: Iterable[str], subscriber: Callable[[Event], None]) -> None:
    """Have `subscriber(event)` called in the transaction of each event of these names.

    For what must stand or fall with its cause, like the redirect of an address that moved. What the subscriber
    raises undoes the cause.
    """
    for name in names:
        _inside[name].register(subscriber)


def record(
    name: str, *, actor: Actor, payload: JsonObject, post_id: UUID | str | None = None
) -> Event:
    """Write the event with its cause, in the caller's transaction, and wake a worker after the commit."""
    kind = kind_of(name)
    event = _event(kind, actor, payload, post_id)
    event.save(force_insert=True)
    if kind.is_live:
        bump_content_version()
    _inside[name](event)
    if event.dispatched_at is None:
        send_after_commit(
            lambda: queue_task("core.tasks.dispatch_event", event.pk), f"event {event.pk}"
        )
    return event


def record_all(
    name: str, things: Iterable[tuple[UUID | str | None, JsonObject]], *, actor: Actor
) -> list[Event]:
    """Write one event for each pair of post id and payload, in few statements and messages; else like `record`."""
    kind = kind_of(name)
    made = [_event(kind, actor, payload, post_id) for post_id, payload in things]
    Event.objects.bulk_create(made, batch_size=1000)
    if made and kind.is_live:
        bump_content_version()
    for subscriber in _inside[name]:
        for event in made:
            subscriber(event)
    if not subscribers_of(name):
        return made
    wake_dispatch([event.pk for event in made])
    return made


def wake_dispatch(event_ids: Sequence[int]) -> None:
    """Tell workers of waiting events, after the commit."""
    for begin in range(0, len(event_ids), _PER_MESSAGE):
        ids = list(event_ids[begin : begin + _PER_MESSAGE])
        send_after_commit(
            partial(queue_task, "core.tasks.dispatch_events", ids), f"events {ids[0]} to {ids[-1]}"
        )


def _event(kind: EventKind, actor: Actor, payload: JsonObject, post_id: UUID | str | None) -> Event:
    now = timezone.now()
    return Event(
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
