"""Events: recorded in the transaction of their cause, dispatched after commit, swept when a message got lost.

The row is the truth; the message to the worker is only a wake-up. Every subscriber may be told twice.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.actor import Actor
from core.json import JsonObject
from core.models import ContentVersion, Event
from core.statements import Statement

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
_VERSION = Statement(lambda: ContentVersion.objects.filter(pk=1).values("number"))


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
    event = Event.objects.create(
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
    if name in _LIVE:
        bump_content_version()
    for subscriber in _inside[name]:
        subscriber(event)
    transaction.on_commit(lambda: _wake(event.pk), robust=True)
    return event


def forget(event_ids: Iterable[int]) -> None:
    """Empty the payloads of events whose words must be gone; nobody is told of them any more."""
    Event.objects.filter(pk__in=list(event_ids)).update(
        payload={}, dispatched_at=Coalesce("dispatched_at", timezone.now())
    )


def bump_content_version() -> None:
    """Make every answer cached for the live content old."""
    changed = ContentVersion.objects.filter(pk=1).update(number=models.F("number") + 1)
    if not changed:
        ContentVersion.objects.get_or_create(pk=1)


def content_version() -> int:
    """The number that caches of live content are keyed by."""
    rows = _VERSION.rows()
    return int(rows[0]["number"]) if rows else 0


def _wake(event_id: int) -> None:
    from core.tasks import dispatch_event

    try:
        dispatch_event.delay(event_id)
    except Exception:  # a broker that is down must not fail the change: the sweep finds the row
        logger.warning("could not queue event %s; the sweep will", event_id, exc_info=True)


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
