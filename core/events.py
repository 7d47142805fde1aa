"""Events: recorded in the transaction of their cause, dispatched after commit, swept when a message got lost.

The row is the truth; the message to the worker is only a wake-up. Every subscriber may be told twice.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import models
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from core.actor import Actor
from core.json import JsonObject
from core.models import ContentVersion, Event
from core.statements import Statement
from core.waking import after_commit

logger = logging.getLogger(__name__)

Subscriber = Callable[[Event], None]
_subscribers: dict[str, list[Subscriber]] = defaultdict(list)
_inside: dict[str, list[Subscriber]] = defaultdict(list)

# What changes what visitors see; each of these makes every cached answer old.
_LIVE = frozenset(
    {
        "post.created",
        "post.updated",
        "post.published",
        "post.deleted",
        "post.restored",
        "post.moved",
        "content.changed",
    }
)
MAX_ATTEMPTS = 20
_PER_MESSAGE = 100
"""Events that one message to a worker names."""
_asked_for: ContextVar[list[str] | None] = ContextVar("asked_for", default=None)
_STATE = Statement(lambda: ContentVersion.objects.filter(pk=1).values("number", "moved_at"))


@dataclass(frozen=True, slots=True)
class LiveState:
    """Which state live content is in, and since when; None where nothing was ever written."""

    version: int
    moved_at: datetime | None


def subscribe(names: Iterable[str], subscriber: Subscriber) -> None:
    """Have `subscriber(event)` called, from a task, after the transaction of each event of these names."""
    for name in names:
        if subscriber not in _subscribers[name]:
            _subscribers[name].append(subscriber)


def subscribe_inside(names: Iterable[str], subscriber: Subscriber) -> None:
    """Have `subscriber(event)` called in the transaction of each event of these names.

    For what must stand or fall with its cause, like the redirect of an address that moved. What the subscriber
    raises undoes the cause.
    """
    for name in names:
        if subscriber not in _inside[name]:
            _inside[name].append(subscriber)


def record(
    name: str, *, actor: Actor, payload: JsonObject, post_id: UUID | str | None = None
) -> Event:
    """Write the event with its cause, in the caller's transaction, and wake a worker after the commit."""
    event = _event(name, actor, payload, post_id)
    event.save(force_insert=True)
    if name in _LIVE:
        bump_content_version()
    for subscriber in _inside[name]:
        subscriber(event)
    after_commit(lambda: _send(event.pk), f"event {event.pk}")
    return event


def record_all(
    name: str, things: Iterable[tuple[UUID | str | None, JsonObject]], *, actor: Actor
) -> list[Event]:
    """Write one event for each pair of post id and payload, in few statements and messages; else like `record`."""
    made = [_event(name, actor, payload, post_id) for post_id, payload in things]
    Event.objects.bulk_create(made, batch_size=1000)
    if made and name in _LIVE:
        bump_content_version()
    for subscriber in _inside[name]:
        for event in made:
            subscriber(event)
    for begin in range(0, len(made), _PER_MESSAGE):
        ids = [event.pk for event in made[begin : begin + _PER_MESSAGE]]
        after_commit(partial(_send_all, ids), f"events {ids[0]} to {ids[-1]}")
    return made


def _event(name: str, actor: Actor, payload: JsonObject, post_id: UUID | str | None) -> Event:
    return Event(
        name=name,
        post_id=post_id,
        payload=payload,
        actor_id=actor.user.pk,
        via=actor.via,
        agent_id=actor.agent_id or "",
        run_id=actor.run_id or "",
        cause_id=actor.event_id,
        hop=actor.hop,
    )


def forget(event_ids: Iterable[int]) -> None:
    """Empty the payloads of events whose words must be gone; nobody is told of them any more."""
    Event.objects.filter(pk__in=list(event_ids)).update(
        payload={}, dispatched_at=Coalesce("dispatched_at", timezone.now())
    )


@contextmanager
def version_last() -> Iterator[None]:
    """Make every cached answer old once, when the block ends: for who locks more rows after the first event.

    Live writers queue up at the content version, and lock nothing behind it that another one may hold.
    """
    asked_for: list[str] = []
    token = _asked_for.set(asked_for)
    try:
        yield
    finally:
        _asked_for.reset(token)
    if asked_for:
        bump_content_version()


def bump_content_version() -> None:
    """Make every answer cached for the live content old."""
    asked_for = _asked_for.get()
    if asked_for is not None:
        asked_for.append("version")
        return
    a_second_on = models.F("moved_at") + timedelta(seconds=1)
    changed = ContentVersion.objects.filter(pk=1).update(
        number=models.F("number") + 1,
        moved_at=Greatest(models.Value(timezone.now()), a_second_on),
    )
    if not changed:
        ContentVersion.objects.get_or_create(pk=1)


def lock_content_version() -> None:
    """Wait for a live write that is under way, and keep others waiting until the transaction ends.

    For writers that read what another live write may change, before they record their own. Inside `version_last`
    the rows are locked already, and nothing waits here.
    """
    if _asked_for.get() is not None:
        return
    ContentVersion.objects.select_for_update().filter(pk=1).first()


def content_version() -> int:
    """The number that caches of live content are keyed by."""
    return live_state().version


def live_state() -> LiveState:
    """The version with the moment of its making. One query."""
    rows = _STATE.rows()
    return LiveState(rows[0]["number"], rows[0]["moved_at"]) if rows else LiveState(0, None)


def _send(event_id: int) -> None:
    from core.tasks import dispatch_event

    dispatch_event.delay(event_id)


def _send_all(event_ids: list[int]) -> None:
    from core.tasks import dispatch_events

    dispatch_events.delay(event_ids)


def dispatch(event_id: int) -> bool:
    """Tell every subscriber of the event. Answers whether all of them took it; a failing one is told again later."""
    event = Event.objects.filter(pk=event_id, dispatched_at__isnull=True).first()
    if event is None:
        return True
    failed = False
    for subscriber in _subscribers[event.name]:
        try:
            subscriber(event)
        except Exception:
            failed = True
            logger.exception("subscriber %s failed on %s", subscriber.__qualname__, event)
    Event.objects.filter(pk=event_id).update(
        attempts=models.F("attempts") + 1, dispatched_at=None if failed else timezone.now()
    )
    if failed and event.attempts + 1 == MAX_ATTEMPTS:
        logger.error("%s failed %s times and is not tried again", event, MAX_ATTEMPTS)
    return not failed


def waiting(limit: int = 500) -> list[int]:
    """Ids of events that nobody was told of yet, oldest first, leaving out what failed too often."""
    return list(
        Event.objects.filter(dispatched_at__isnull=True, attempts__lt=MAX_ATTEMPTS)
        .order_by("id")
        .values_list("id", flat=True)[:limit]
    )
