"""Dispatch of events to their subscribers, in tasks. Events of one post keep their order."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

from proofroom.core.actor import Actor
from proofroom.core.database.compiled_queries import (
    BoundUpdate,
    CompiledQuery,
    Update,
    columns_of,
    instance_from_row,
)
from proofroom.core.database.inserts import insert_ignoring_conflicts
from proofroom.core.models import Event
from proofroom.core.outbox.events import Subscriber, record, subscribers_of
from proofroom.core.outbox.wake_ups import wake_dispatch

logger = logging.getLogger(__name__)
_has_several_posts: ContextVar[bool] = ContextVar("is_shared", default=False)


class NeedsOwnTransaction(Exception):
    """A subscriber needs a separate transaction for this post."""


def require_own_transaction() -> None:
    """Raise `NeedsOwnTransaction` if the transaction covers several posts.

    A subscriber calls it before it locks the post or writes a row that refers to it. Otherwise it would hold the lock
    of one post while it waits for another, and could deadlock with a writer of both.
    """
    if _has_several_posts.get():
        raise NeedsOwnTransaction


@contextmanager
def transaction_of(posts: int) -> Iterator[None]:
    """Mark the block as a transaction for this number of posts."""
    token = _has_several_posts.set(posts > 1)
    try:
        yield
    finally:
        _has_several_posts.reset(token)


_deferred_rows: ContextVar[list[Model] | None] = ContextVar("along", default=None)


def insert_with_deliveries(rows: Sequence[Model]) -> None:
    """Insert rows of one model, except rows that violate a unique constraint.

    During a batch they are collected, and inserted in the statement that marks the events as delivered. Otherwise
    they are inserted immediately.
    """
    waiting = _deferred_rows.get()
    if waiting is None:
        insert_ignoring_conflicts(rows)
    else:
        waiting.extend(rows)


@contextmanager
def rows_kept_in(waiting: list[Model]) -> Iterator[None]:
    """Collect the rows of `insert_with_deliveries` in this list during the block."""
    token = _deferred_rows.set(waiting)
    try:
        yield
    finally:
        _deferred_rows.reset(token)


class BatchRefused(Exception):
    """A subscriber failed on a batch of events. The transaction must be rolled back."""


def call_with_batch(subscriber: Subscriber, events: Sequence[Event]) -> None:
    """Call a subscriber with all these events in the transaction, without a savepoint."""
    try:
        subscriber.tell(events)
    except Exception as error:
        raise BatchRefused from error


def call_inside_transaction(subscriber: Subscriber, event: Event) -> bool:
    """Call a subscriber inside a savepoint. Return False and roll back only its writes if it fails."""
    try:
        with transaction.atomic():
            subscriber.tell([event])
    except NeedsOwnTransaction:
        raise
    except OperationalError as error:
        # Locks and lost connections are no fault of the subscriber, so they are not logged as
        # errors.
        logger.info("%s receives %s later: %s", subscriber.id, event, error)
        return False
    except Exception:
        logger.exception("%s failed on %s", subscriber.id, event)
        return False
    return True


def call_outside_transaction(subscriber: Subscriber, event: Event) -> bool:
    """Call a subscriber outside of any transaction. Return whether it succeeded."""
    try:
        subscriber.tell([event])
    except Exception:
        logger.exception("%s failed on %s", subscriber.id, event)
        return False
    return True


MAX_ATTEMPTS: Final = 20
_FIRST_DELAY: Final = timedelta(seconds=30)
_MAX_DELAY: Final = timedelta(hours=1)


def due_events(now: datetime) -> Q:
    """Return the condition for events that must be delivered now."""
    return open_events() & (Q(next_at__isnull=True) | Q(next_at__lte=now))


def is_due(event: Event, now: datetime) -> bool:
    return event.next_at is None or event.next_at <= now


def open_events() -> Q:
    return Q(dispatched_at__isnull=True, attempts__lt=MAX_ATTEMPTS)


def count_failure(event: Event, now: datetime) -> None:
    """Count a failed delivery on the instance and set the time of the next attempt. The caller saves it."""
    event.attempts += 1
    event.next_at = next_attempt_at(event.attempts, now)
    if event.attempts == MAX_ATTEMPTS:
        logger.error("%s failed %s times and is not retried", event, MAX_ATTEMPTS)


def next_attempt_at(attempts: int, now: datetime) -> datetime | None:
    """Return the time of the next attempt; None for immediately, or never after the last attempt."""
    if attempts in (0, MAX_ATTEMPTS):
        return None
    return now + min(_FIRST_DELAY * (1 << (attempts - 1)), _MAX_DELAY)


@transaction.atomic
def redeliver(*, event_ids: Iterable[int], actor: Actor) -> int:
    """Retry failed events for the subscribers that missed them. Return the number of events."""
    actor.require("settings.manage")
    actor.require_person("have events told again")
    rows = failed_events().select_for_update(no_key=True).filter(pk__in=list(event_ids))
    events = list(rows.order_by("pk"))
    ids = [event.pk for event in events]
    if not ids:
        return 0
    failed_events().filter(pk__in=ids).update(attempts=0, next_at=None)
    record("events.told-again", actor=actor, payload={"events": [*ids]})
    wake_dispatch(events)
    return len(ids)


BATCH: Final = 100
"""Maximum number of events in one transaction."""
_OUTSIDE_TIMEOUT: Final = timedelta(minutes=5)
"""Time after which a subscriber outside of the transaction is called again if its result is not stored."""
_BACKLOG_AGE: Final = timedelta(seconds=0.5)
"""Age of a due event from which its worker counts as behind and also delivers events it was not woken for."""


@dataclass(frozen=True, slots=True)
class EventSelection:
    """The events to dispatch: all events of `posts`, and the ids of single events in `events`."""

    posts: tuple[UUID, ...] = ()
    events: tuple[int, ...] = ()

    def condition(self) -> Q:
        return Q(post_id__in=self.posts) | Q(pk__in=self.events)


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """The result of a dispatch.

    `count` is the number of events taken up, `left` the ids of events with deliveries still due. With `gave_way` the
    database aborted the transaction in favour of another, so nothing is known about the events.
    """

    count: int = 0
    left: frozenset[int] = frozenset()
    gave_way: bool = False

    def __add__(self, other: DispatchResult) -> DispatchResult:
        left = self.left | other.left
        return DispatchResult(self.count + other.count, left, self.gave_way or other.gave_way)


def dispatch_due(
    which: EventSelection, limit: int = BATCH, *, include_older: bool = False
) -> DispatchResult:
    """Deliver the first due events of the selection to all subscribers.

    With `include_older` and events that have waited long, other due events that no worker has locked are delivered in
    the same transaction. If the database aborts the transaction, the events are left for later.
    """
    now = timezone.now()
    try:
        try:
            with transaction.atomic():
                round_ = _lock_due(which, limit, now)
                if include_older and any(
                    now - one.created_at > _BACKLOG_AGE for one in round_.events
                ):
                    round_.add_due_events(limit - len(round_.events))
                round_.deliver_batches()
                round_.tell()
        except BatchRefused as refused:
            # The batch was rolled back. One by one, only the failing event is left.
            logger.info("events are delivered one by one: %s", refused.__cause__)
            with transaction.atomic():
                round_ = _lock_due(which, limit, now)
                round_.tell()
    except IntegrityError:
        # A deferred constraint failed at the commit. To find the event that caused it, repeat them
        # one by one.
        if limit > 1:
            return sum((dispatch_due(which, 1) for _ in range(limit)), DispatchResult())
        logger.exception("cannot commit the writes of a subscriber")
        return _postpone(which)
    except (DatabaseError, InterfaceError) as error:
        # A deadlock, a lock timeout or a lost connection: the whole transaction was rolled back.
        logger.info("events are delivered later: %s", error)
        return DispatchResult(gave_way=True)
    # After the commit: these subscribers may take long, and must not hold the locks.
    round_.deliver_outside()
    taken = [event for event in round_.events if not round_.is_alone(event)]
    left = [event for event in (*round_.waiting, *taken) if event.dispatched_at is None]
    told = DispatchResult(len(taken), frozenset(event.pk for event in left))
    apart = [EventSelection(posts=(post_id,)) for post_id in round_.alone]
    apart += [EventSelection(events=(event_id,)) for event_id in round_.alone_events]
    return sum((dispatch_due(which, limit) for which in apart), told)


def _lock_events(which: Q, limit: int) -> list[Event]:
    # NO KEY UPDATE, so that runs and deliveries that refer to the event can be inserted at the same
    # time.
    return list(Event.objects.select_for_update(no_key=True).filter(which).order_by("id")[:limit])


@lru_cache(maxsize=20)
def _open_statement(has_posts: bool, has_events: bool, limit: int) -> CompiledQuery:
    """Return the statement that locks the open events of posts and of single ids."""

    def build(*ids: Any) -> QuerySet[Event, Any]:
        posts = ids[0] if has_posts else ()
        which = EventSelection(posts, ids[-1] if has_events else ()).condition()
        rows = Event.objects.select_for_update(no_key=True).filter(which & open_events())
        found: QuerySet[Event, Any] = rows.order_by("id").values(*columns_of(Event))[:limit]
        return found

    return CompiledQuery(build)


def _lock_open(which: EventSelection, limit: int) -> list[Event]:
    given = [ids for ids in (which.posts, which.events) if ids]
    if not given:
        return []
    rows = _open_statement(bool(which.posts), bool(which.events), limit).rows(*given)
    return [instance_from_row(Event, row) for row in rows]


def _lock_due(which: EventSelection, limit: int, now: datetime) -> _LockedEvents:
    """Lock the first due events, and earlier events of their posts that wait for their next attempt."""
    rows = _lock_open(which, limit)
    due = [event for event in rows if is_due(event, now)]
    waiting = [event for event in rows if not is_due(event, now)]
    if waiting and len(rows) == limit:
        # More events wait for a retry than fit into one transaction. They must not block the due
        # ones.
        due = _lock_events(which.condition() & due_events(now), limit)
        waiting = _open_before(due, exclude=[]) if due else []
        waiting = [event for event in waiting if not is_due(event, now)]
    return _LockedEvents(due, waiting, now)


def _open_before(events: Sequence[Event], exclude: Iterable[int]) -> list[Event]:
    """Return the open events of the same posts before the last of these events."""
    posts = {event.post_id for event in events if event.post_id is not None}
    if not posts:
        return []
    last = max(event.pk for event in events)
    rows = Event.objects.filter(open_events(), post_id__in=posts, pk__lt=last)
    return list(rows.exclude(pk__in=list(exclude)).order_by("id"))


@transaction.atomic
def _postpone(which: EventSelection) -> DispatchResult:
    events = _lock_events(which.condition() & due_events(timezone.now()), 1)
    for event in events:
        count_failure(event, timezone.now())
        event.save(update_fields=["attempts", "next_at"])
    return DispatchResult(len(events), frozenset(event.pk for event in events))


def _pending_subscribers(event: Event) -> list[Subscriber]:
    """Return the subscribers that have not received the event."""
    return [one for one in subscribers_of(event.name) if one.id not in event.told]


@lru_cache(maxsize=100)
def _mark_delivered(told: tuple[str, ...]) -> Update:
    """Return the update that marks events as delivered to these subscribers."""
    counted = {"told": list(told), "attempts": F("attempts") + 1}
    return Update(
        lambda ids, now: (
            Event.objects.filter(pk__in=ids),
            {**counted, "next_at": None, "dispatched_at": now},
        )
    )


@transaction.atomic
def _store_outside_deliveries(delivered: Event, succeeded: list[str], *, has_failed: bool) -> None:
    """Store the deliveries outside of a transaction. Also mark `delivered` as dispatched if it is complete."""
    rows = Event.objects.select_for_update(no_key=True).filter(open_events(), pk=delivered.pk)
    event = rows.first()
    now = timezone.now()
    if event is None:  # dispatched by another worker, or forgotten
        delivered.dispatched_at = now
        return
    event.told += [name for name in succeeded if name not in event.told]
    if not _pending_subscribers(event):
        event.attempts, event.next_at, event.dispatched_at = event.attempts + 1, None, now
        delivered.dispatched_at = now
    elif has_failed:
        count_failure(event, now)
    else:
        event.next_at = next_attempt_at(event.attempts, now)
    event.save(update_fields=["told", "attempts", "next_at", "dispatched_at"])


@dataclass(slots=True)
class _LockedEvents:
    """The events that one transaction has locked, oldest first, and earlier events of their posts that wait.

    `held` has the time until which a subscriber gets no more events of a post, because it failed on an earlier one.
    `apart` has the subscribers to call after the commit. `alone` are posts, and `alone_events` events without a post,
    that need a separate transaction. `rows` are inserted in the statement that marks events as delivered.
    """

    events: list[Event]
    waiting: list[Event]
    now: datetime
    held: dict[tuple[UUID, str], datetime] = field(default_factory=dict)
    apart: dict[int, list[Subscriber]] = field(default_factory=dict)
    alone: dict[UUID, None] = field(default_factory=dict)
    alone_events: dict[int, None] = field(default_factory=dict)
    rows: list[Model] = field(default_factory=list)

    def add_due_events(self, room: int) -> None:
        """Add due events that no other worker has locked. Of each post it adds all due events or none."""
        known = [event.pk for event in (*self.events, *self.waiting)]
        rows = Event.objects.select_for_update(no_key=True, skip_locked=True)
        more = list(rows.filter(due_events(self.now)).exclude(pk__in=known).order_by("id")[:room])
        earlier = _open_before(more, exclude=[*known, *(event.pk for event in more)])
        # Another worker is delivering the earlier events of these posts.
        taken = {event.post_id for event in earlier if is_due(event, self.now)}
        self.events += [event for event in more if event.post_id not in taken]
        self.waiting += [event for event in earlier if event.post_id not in taken]
        self.events.sort(key=lambda event: event.pk)

    def is_alone(self, event: Event) -> bool:
        """Return whether the event is left to a separate transaction."""
        return event.pk in self.alone_events or (
            event.post_id is not None and event.post_id in self.alone
        )

    def _in_order(self) -> list[Event]:
        return sorted((*self.events, *self.waiting), key=lambda event: event.pk)

    def deliver_batches(self) -> None:
        """Call the subscribers that accept many events. Raises `BatchRefused` if one fails."""
        batches: dict[Subscriber, list[Event]] = {}
        held: set[tuple[Subscriber, UUID]] = set()
        for event in self._in_order():
            for subscriber in _pending_subscribers(event):
                if subscriber.call_many is None:
                    continue
                if event.post_id is None or (subscriber, event.post_id) not in held:
                    if is_due(event, self.now):
                        batches.setdefault(subscriber, []).append(event)
                    elif event.post_id is not None:
                        held.add((subscriber, event.post_id))
        for subscriber, events in batches.items():
            with transaction_of(len({event.post_id for event in events})), rows_kept_in(self.rows):
                call_with_batch(subscriber, events)
            for event in events:
                event.told.append(subscriber.id)

    def tell(self) -> None:
        """Call the remaining subscribers, except those outside of the transaction, and store the results."""
        done: dict[tuple[str, ...], list[Event]] = {}
        with transaction_of(len({event.post_id for event in self.events})):
            for event in self._in_order():
                if not is_due(event, self.now):
                    self._block(event, _pending_subscribers(event))
                elif self.is_alone(event):
                    if event.told:
                        event.save(update_fields=["told"])
                elif self._deliver_and_store(event):
                    done.setdefault(tuple(event.told), []).append(event)
        notes = [
            _mark_delivered(told).bound([event.pk for event in events], self.now)
            for told, events in done.items()
        ]
        self._store(notes)
        for events in done.values():
            for event in events:
                event.dispatched_at = self.now

    def _store(self, notes: Sequence[BoundUpdate]) -> None:
        """Insert the collected rows together with the updates.

        Raises `BatchRefused` if the rows violate a constraint.
        """
        if not self.rows:
            for note in notes:
                note.execute()
            return
        by_model: dict[type[Model], list[Model]] = {}
        for row in self.rows:
            by_model.setdefault(type(row), []).append(row)
        *others, last = by_model.values()
        try:
            for rows in others:
                insert_ignoring_conflicts(rows)
            insert_ignoring_conflicts(last, notes)
        except Exception as error:
            raise BatchRefused from error

    def _block(self, event: Event, subscribers: Iterable[Subscriber]) -> None:
        """Deliver no more events of the post to these subscribers before the event's next attempt."""
        if event.post_id is not None and event.next_at is not None:
            for subscriber in subscribers:
                self.held.setdefault((event.post_id, subscriber.id), event.next_at)

    def _deliver_and_store(self, event: Event) -> bool:
        """Deliver the event. Return True if it is complete; otherwise store the result."""
        try:
            failed = self._deliver_one(event)
        except NeedsOwnTransaction:
            if event.post_id is None:
                self.alone_events[event.pk] = None
            else:
                self.alone[event.post_id] = None
            event.save(update_fields=["told"])
            return False
        missing = _pending_subscribers(event)
        if not missing:
            return True
        if failed:
            count_failure(event, self.now)
        self._schedule_retry(event, missing, failed)
        event.save(update_fields=["told", "attempts", "next_at"])
        return False

    def _deliver_one(self, event: Event) -> bool:
        """Call the subscribers that are not blocked. Return whether one of them failed."""
        failed = False
        for subscriber in _pending_subscribers(event):
            if self._blocked_until(event, subscriber) is not None:
                continue
            if subscriber.is_apart:
                self.apart.setdefault(event.pk, []).append(subscriber)
            elif call_inside_transaction(subscriber, event):
                event.told.append(subscriber.id)
            else:
                failed = True
        return failed

    def _blocked_until(self, event: Event, subscriber: Subscriber) -> datetime | None:
        if event.post_id is None:
            return None
        return self.held.get((event.post_id, subscriber.id))

    def _schedule_retry(self, event: Event, missing: Iterable[Subscriber], failed: bool) -> None:
        """Set the event's next attempt, and block later events for the subscribers that missed it."""
        apart = self.apart.get(event.pk, [])
        if apart:
            event.next_at = self.now + _OUTSIDE_TIMEOUT
        elif not failed:
            ends = [self._blocked_until(event, subscriber) for subscriber in missing]
            event.next_at = min(end for end in ends if end is not None)
        self._block(event, [subscriber for subscriber in missing if subscriber not in apart])

    def deliver_outside(self) -> None:
        """Call the subscribers that work outside of a transaction, and store the results."""
        for event in self.events:
            if event.pk in self.apart:
                self._deliver_one_outside(event)
        posts = {event.post_id for event in self.events if event.pk in self.apart} - {None}
        if not posts:
            return
        # Later events were postponed to wait for these. They are due now.
        Event.objects.filter(
            open_events(),
            post_id__in=posts,
            pk__gt=self.events[-1].pk,
            next_at=self.now + _OUTSIDE_TIMEOUT,
        ).update(next_at=None)

    def _deliver_one_outside(self, event: Event) -> None:
        succeeded: list[str] = []
        has_failed = False
        for subscriber in self.apart[event.pk]:
            if self._blocked_until(event, subscriber) is not None:
                continue
            if call_outside_transaction(subscriber, event):
                succeeded.append(subscriber.id)
                continue
            has_failed = True
            if event.post_id is not None:
                self.held[event.post_id, subscriber.id] = self.now
        _store_outside_deliveries(event, succeeded, has_failed=has_failed)


_SWEEP_BATCH: Final = 500
"""Number of events that a sweep reads at once."""


_POSTS_OF_EVENTS: Final = CompiledQuery(
    lambda ids: (
        Event.objects.filter(open_events(), pk__in=ids).order_by("id").values("id", "post_id")
    )
)


def dispatch(event_id: int) -> bool:
    """Deliver the event and the earlier open events of its post to all subscribers.

    Return whether all of them succeeded. A failing subscriber is retried later, and gets no later event of that post
    until then.
    """
    return dispatch_all([event_id])


def dispatch_all(event_ids: Iterable[int]) -> bool:
    """Deliver these events to all subscribers, like `dispatch`."""
    ids = list(event_ids)
    found = [(row["id"], row["post_id"]) for row in _POSTS_OF_EVENTS.rows(ids)]
    told = sum((_dispatch_selection(which) for which in _selections(found)), DispatchResult())
    return not told.gave_way and told.left.isdisjoint(ids)


def dispatch_posts(post_ids: Iterable[UUID], event_ids: Iterable[int]) -> None:
    """Deliver the open events of these posts, and these events without a post.

    A worker that is behind also delivers other events, whose messages then find nothing to do.
    """
    _dispatch_selection(EventSelection(tuple(post_ids), tuple(event_ids)), include_older=True)


def _dispatch_selection(which: EventSelection, *, include_older: bool = False) -> DispatchResult:
    """Deliver all events of the selection.

    Later events of its posts are included, which saves another transaction.
    """
    told = round_ = dispatch_due(which, include_older=include_older)
    while round_.count >= BATCH:
        round_ = dispatch_due(which)
        told += round_
    return told


def sweep(seconds: float) -> int:
    """Deliver events left by lost messages and failed subscribers, for at most `seconds`.

    Return the number of events taken up, oldest first. Each is then dispatched or waits for its next attempt.
    """
    until = time.monotonic() + seconds
    count = 0
    while found := list(_due_rows()[:_SWEEP_BATCH]):
        before = count
        for which in _selections(found):
            if time.monotonic() >= until:
                return count
            count += dispatch_due(which).count
        if count == before:
            break  # the database aborted every transaction, so leave the rest to the next sweep
    return count


def waiting_event_ids(limit: int = _SWEEP_BATCH) -> list[int]:
    """Return ids of due events, oldest first, without events that failed too often."""
    return [id_ for id_, _ in _due_rows()[:limit]]


def failed_events() -> QuerySet[Event]:
    """Return events that failed too often. They are retried only on request."""
    return Event.objects.filter(dispatched_at__isnull=True, attempts__gte=MAX_ATTEMPTS)


def _due_rows() -> QuerySet[Event, tuple[int, UUID | None]]:
    return (
        Event.objects.filter(due_events(timezone.now())).order_by("id").values_list("id", "post_id")
    )


def _selections(found: Sequence[tuple[int, UUID | None]]) -> Iterator[EventSelection]:
    """Yield the selection of each transaction: events without a post, and whole posts, so that earlier events are
    included.
    """
    for begin in range(0, len(found), BATCH):
        part = found[begin : begin + BATCH]
        posts = dict.fromkeys(post_id for _, post_id in part if post_id is not None)
        others = tuple(id_ for id_, post_id in part if post_id is None)
        yield EventSelection(tuple(posts), others)
