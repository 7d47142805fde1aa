"""Dispatches events to their subscribers, from tasks: the events of one post in their order."""

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
from proofroom.core.database.inserts import insert_new
from proofroom.core.database.statements import (
    BoundUpdate,
    Statement,
    Update,
    columns_of,
    instance_from_row,
)
from proofroom.core.models import Event
from proofroom.core.outbox.events import Subscriber, record, subscribers_of
from proofroom.core.outbox.wake_ups import wake_dispatch

logger = logging.getLogger(__name__)
_is_shared: ContextVar[bool] = ContextVar("is_shared", default=False)


class NeedsOwnTransaction(Exception):
    """A subscriber wants to be told of this post in a round of its own."""


def require_own_transaction() -> None:
    """To be called by a subscriber before it locks the post, or writes a row that refers to it.

    Else it would hold one post while it waits for another one, and a writer of both might wait for it.
    """
    if _is_shared.get():
        raise NeedsOwnTransaction


@contextmanager
def transaction_of(posts: int) -> Iterator[None]:
    """In the block, subscribers are told of so many posts in one transaction."""
    token = _is_shared.set(posts > 1)
    try:
        yield
    finally:
        _is_shared.reset(token)


_along: ContextVar[list[Model] | None] = ContextVar("along", default=None)


def insert_along(rows: Sequence[Model]) -> None:
    """Store those of these rows that are new, all of one model: what a subscriber makes of events, and reads no more.

    Where it is told of many they are stored in the statement that notes it, else at once.
    """
    waiting = _along.get()
    if waiting is None:
        insert_new(rows)
    else:
        waiting.extend(rows)


@contextmanager
def rows_kept_in(waiting: list[Model]) -> Iterator[None]:
    """In the block, what subscribers insert along with the note waits in this list."""
    token = _along.set(waiting)
    try:
        yield
    finally:
        _along.reset(token)


class BatchRefused(Exception):
    """A subscriber of many events did not take them together: what the transaction wrote must be undone."""


def call_with_batch(subscriber: Subscriber, events: Sequence[Event]) -> None:
    """Tell a subscriber of all these events at once, inside the transaction, without a savepoint."""
    try:
        subscriber.tell(events)
    except Exception as error:
        raise BatchRefused from error


def call_inside_transaction(subscriber: Subscriber, event: Event) -> bool:
    """Tell a subscriber inside the transaction. What one that fails wrote is undone, and nothing else."""
    try:
        with transaction.atomic():
            subscriber.tell([event])
    except NeedsOwnTransaction:
        raise
    except OperationalError as error:
        logger.info("%s is told of %s later: %s", subscriber.id, event, error)
        return False
    except Exception:
        logger.exception("%s failed on %s", subscriber.id, event)
        return False
    return True


def call_outside_transaction(subscriber: Subscriber, event: Event) -> bool:
    """Tell a subscriber outside any transaction. Answers whether it took it."""
    try:
        subscriber.tell([event])
    except Exception:
        logger.exception("%s failed on %s", subscriber.id, event)
        return False
    return True


MAX_ATTEMPTS: Final = 20
_FIRST_WAIT: Final = timedelta(seconds=30)
_LONGEST_WAIT: Final = timedelta(hours=1)


def due_events(now: datetime) -> Q:
    """Events that somebody has to be told of now."""
    return open_events() & (Q(next_at__isnull=True) | Q(next_at__lte=now))


def is_due(event: Event, now: datetime) -> bool:
    return event.next_at is None or event.next_at <= now


def open_events() -> Q:
    return Q(dispatched_at__isnull=True, attempts__lt=MAX_ATTEMPTS)


def count_failure(event: Event, now: datetime) -> None:
    """Note, on the row in memory, that somebody did not take it."""
    event.attempts += 1
    event.next_at = next_attempt_at(event.attempts, now)
    if event.attempts == MAX_ATTEMPTS:
        logger.error("%s failed %s times and is not tried again", event, MAX_ATTEMPTS)


def next_attempt_at(attempts: int, now: datetime) -> datetime | None:
    """Its next time, after so many failures; None is at once, or never where they were too many."""
    if attempts in (0, MAX_ATTEMPTS):
        return None
    return now + min(_FIRST_WAIT * (1 << (attempts - 1)), _LONGEST_WAIT)


@transaction.atomic
def redeliver(*, event_ids: Iterable[int], actor: Actor) -> int:
    """Have those of these events that were given up told again, to whoever did not take them. Answers how many."""
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
"""Events in one transaction."""
_APART: Final = timedelta(minutes=5)
"""How long a subscriber that works apart has before somebody else tells it again."""
_BEHIND: Final = timedelta(seconds=0.5)
"""How long an event has waited where workers are behind, and take along what others wait for."""


@dataclass(frozen=True, slots=True)
class EventSelection:
    """Whole posts, and events that have none."""

    posts: tuple[UUID, ...] = ()
    events: tuple[int, ...] = ()

    def condition(self) -> Q:
        return Q(post_id__in=self.posts) | Q(pk__in=self.events)


@dataclass(frozen=True, slots=True)
class Round:
    """`count` are the events that were taken up, `left` those of which somebody still has to be told.

    `gave_way` where the database let somebody else through, so that nothing is known of the events.
    """

    count: int = 0
    left: frozenset[int] = frozenset()
    gave_way: bool = False

    def __add__(self, other: Round) -> Round:
        left = self.left | other.left
        return Round(self.count + other.count, left, self.gave_way or other.gave_way)


def dispatch_due(which: EventSelection, limit: int = BATCH, *, takes_along: bool = False) -> Round:
    """Tell everybody of the first of these events that are due.

    With `takes_along`, others that are due and that no other worker
    has are told in the same transaction, where these have waited long. Where the database gives way to somebody
    else, they are left for later.
    """
    now = timezone.now()
    try:
        try:
            with transaction.atomic():
                round_ = _lock_due(which, limit, now)
                if takes_along and any(now - one.created_at > _BEHIND for one in round_.events):
                    round_.take_along(limit - len(round_.events))
                round_.tell_in_batches()
                round_.tell()
        except BatchRefused as refused:
            logger.info("events are told one by one: %s", refused.__cause__)
            with transaction.atomic():
                round_ = _lock_due(which, limit, now)
                round_.tell()
    except IntegrityError:
        # What a subscriber wrote could not stand at the commit. Which one, only one event at a time tells.
        if limit > 1:
            return sum((dispatch_due(which, 1) for _ in range(limit)), Round())
        logger.exception("what a subscriber wrote could not be kept")
        return _postpone(which)
    except (DatabaseError, InterfaceError) as error:
        # Another one was let through, or the connection is gone: everything of this round is undone.
        logger.info("events are told later: %s", error)
        return Round(gave_way=True)
    round_.tell_apart()
    taken = [event for event in round_.events if not round_.is_alone(event)]
    left = [event for event in (*round_.waiting, *taken) if event.dispatched_at is None]
    told = Round(len(taken), frozenset(event.pk for event in left))
    apart = [EventSelection(posts=(post_id,)) for post_id in round_.alone]
    apart += [EventSelection(events=(event_id,)) for event_id in round_.alone_events]
    return sum((dispatch_due(which, limit) for which in apart), told)


def _locked(which: Q, limit: int) -> list[Event]:
    # Runs and deliveries that name the event as theirs are written meanwhile: the key stays free.
    return list(Event.objects.select_for_update(no_key=True).filter(which).order_by("id")[:limit])


@lru_cache(maxsize=20)
def _open_of(has_posts: bool, has_events: bool, limit: int) -> Statement:
    """What is open of posts and of events, as one asks for them, locked."""

    def build(*ids: Any) -> QuerySet[Event, Any]:
        posts = ids[0] if has_posts else ()
        which = EventSelection(posts, ids[-1] if has_events else ()).condition()
        rows = Event.objects.select_for_update(no_key=True).filter(which & open_events())
        found: QuerySet[Event, Any] = rows.order_by("id").values(*columns_of(Event))[:limit]
        return found

    return Statement(build)


def _lock_open(which: EventSelection, limit: int) -> list[Event]:
    given = [ids for ids in (which.posts, which.events) if ids]
    if not given:
        return []
    rows = _open_of(bool(which.posts), bool(which.events), limit).rows(*given)
    return [instance_from_row(Event, row) for row in rows]


def _lock_due(which: EventSelection, limit: int, now: datetime) -> _LockedEvents:
    """The first of these events that are due, and those that wait for their time before them, all locked."""
    rows = _lock_open(which, limit)
    due = [event for event in rows if is_due(event, now)]
    waiting = [event for event in rows if not is_due(event, now)]
    if waiting and len(rows) == limit:
        # More wait than one transaction takes: they must not keep what is due from being told.
        due = _locked(which.condition() & due_events(now), limit)
        waiting = _open_before(due, exclude=[]) if due else []
        waiting = [event for event in waiting if not is_due(event, now)]
    return _LockedEvents(due, waiting, now)


def _open_before(events: Sequence[Event], exclude: Iterable[int]) -> list[Event]:
    """What is open of the posts of these events, before the last of them."""
    posts = {event.post_id for event in events if event.post_id is not None}
    if not posts:
        return []
    last = max(event.pk for event in events)
    rows = Event.objects.filter(open_events(), post_id__in=posts, pk__lt=last)
    return list(rows.exclude(pk__in=list(exclude)).order_by("id"))


@transaction.atomic
def _postpone(which: EventSelection) -> Round:
    events = _locked(which.condition() & due_events(timezone.now()), 1)
    for event in events:
        count_failure(event, timezone.now())
        event.save(update_fields=["attempts", "next_at"])
    return Round(len(events), frozenset(event.pk for event in events))


def _missing(event: Event) -> list[Subscriber]:
    """Return who was not told of it yet."""
    return [one for one in subscribers_of(event.name) if one.id not in event.told]


@lru_cache(maxsize=100)
def _note_told(told: tuple[str, ...]) -> Update:
    """Note on the rows of events that everybody was told, who these are."""
    counted = {"told": list(told), "attempts": F("attempts") + 1}
    return Update(
        lambda ids, now: (
            Event.objects.filter(pk__in=ids),
            {**counted, "next_at": None, "dispatched_at": now},
        )
    )


@transaction.atomic
def _note_apart(told_of: Event, took: list[str], *, has_failed: bool) -> None:
    """Note who took it, on its row; on `told_of` too where everybody did."""
    rows = Event.objects.select_for_update(no_key=True).filter(open_events(), pk=told_of.pk)
    event = rows.first()
    now = timezone.now()
    if event is None:  # told by another worker, or forgotten meanwhile
        told_of.dispatched_at = now
        return
    event.told += [name for name in took if name not in event.told]
    if not _missing(event):
        event.attempts, event.next_at, event.dispatched_at = event.attempts + 1, None, now
        told_of.dispatched_at = now
    elif has_failed:
        count_failure(event, now)
    else:
        event.next_at = next_attempt_at(event.attempts, now)
    event.save(update_fields=["told", "attempts", "next_at", "dispatched_at"])


@dataclass(slots=True)
class _LockedEvents:
    """The events that one transaction has locked, oldest first, and those of their posts that wait for their time.

    `held` says until when a subscriber is told nothing more of a post, because it did not take an earlier event.
    `alone` are posts, and `alone_events` events without one, that want a round of their own and are left to it.
    `rows` are those that go to the database with the note of who was told.
    """

    events: list[Event]
    waiting: list[Event]
    now: datetime
    held: dict[tuple[UUID, str], datetime] = field(default_factory=dict)
    apart: dict[int, list[Subscriber]] = field(default_factory=dict)
    alone: dict[UUID, None] = field(default_factory=dict)
    alone_events: dict[int, None] = field(default_factory=dict)
    rows: list[Model] = field(default_factory=list)

    def take_along(self, room: int) -> None:
        """Add events that are due and that no other worker has; of a post all that is due, or nothing."""
        known = [event.pk for event in (*self.events, *self.waiting)]
        rows = Event.objects.select_for_update(no_key=True, skip_locked=True)
        more = list(rows.filter(due_events(self.now)).exclude(pk__in=known).order_by("id")[:room])
        earlier = _open_before(more, exclude=[*known, *(event.pk for event in more)])
        # Somebody else tells of the earlier events of these posts.
        taken = {event.post_id for event in earlier if is_due(event, self.now)}
        self.events += [event for event in more if event.post_id not in taken]
        self.waiting += [event for event in earlier if event.post_id not in taken]
        self.events.sort(key=lambda event: event.pk)

    def is_alone(self, event: Event) -> bool:
        """Whether the event is left to a round of its own."""
        return event.pk in self.alone_events or (
            event.post_id is not None and event.post_id in self.alone
        )

    def _in_order(self) -> list[Event]:
        return sorted((*self.events, *self.waiting), key=lambda event: event.pk)

    def tell_in_batches(self) -> None:
        """Tell those that take many events at once. Raises `BatchRefused` where one of them fails."""
        batches: dict[Subscriber, list[Event]] = {}
        held: set[tuple[Subscriber, UUID]] = set()
        for event in self._in_order():
            for subscriber in _missing(event):
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
        """Tell everybody who is left, and note it. Who works apart comes after the commit."""
        done: dict[tuple[str, ...], list[Event]] = {}
        with transaction_of(len({event.post_id for event in self.events})):
            for event in self._in_order():
                if not is_due(event, self.now):
                    self._hold_back(event, _missing(event))
                elif self.is_alone(event):
                    if event.told:
                        event.save(update_fields=["told"])
                elif self._tell_and_note(event):
                    done.setdefault(tuple(event.told), []).append(event)
        notes = [
            _note_told(told).bound([event.pk for event in events], self.now)
            for told, events in done.items()
        ]
        self._store(notes)
        for events in done.values():
            for event in events:
                event.dispatched_at = self.now

    def _store(self, notes: Sequence[BoundUpdate]) -> None:
        """Send the notes and the rows, together. Raises `BatchRefused` where the rows cannot stand."""
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
                insert_new(rows)
            insert_new(last, notes)
        except Exception as error:
            raise BatchRefused from error

    def _hold_back(self, event: Event, subscribers: Iterable[Subscriber]) -> None:
        """Have these told of nothing more of the post before the event's next time."""
        if event.post_id is not None and event.next_at is not None:
            for subscriber in subscribers:
                self.held.setdefault((event.post_id, subscriber.id), event.next_at)

    def _tell_and_note(self, event: Event) -> bool:
        """Answers whether everybody took it; else what became of it is stored."""
        try:
            failed = self._tell_one(event)
        except NeedsOwnTransaction:
            if event.post_id is None:
                self.alone_events[event.pk] = None
            else:
                self.alone[event.post_id] = None
            event.save(update_fields=["told"])
            return False
        missing = _missing(event)
        if not missing:
            return True
        if failed:
            count_failure(event, self.now)
        self._wait(event, missing, failed)
        event.save(update_fields=["told", "attempts", "next_at"])
        return False

    def _tell_one(self, event: Event) -> bool:
        """Tell whoever may be told; answers whether one of them failed."""
        failed = False
        for subscriber in _missing(event):
            if self._held_until(event, subscriber) is not None:
                continue
            if subscriber.is_apart:
                self.apart.setdefault(event.pk, []).append(subscriber)
            elif call_inside_transaction(subscriber, event):
                event.told.append(subscriber.id)
            else:
                failed = True
        return failed

    def _held_until(self, event: Event, subscriber: Subscriber) -> datetime | None:
        if event.post_id is None:
            return None
        return self.held.get((event.post_id, subscriber.id))

    def _wait(self, event: Event, missing: Iterable[Subscriber], failed: bool) -> None:
        """Say when the event's turn is again, and hold back whoever did not take it."""
        apart = self.apart.get(event.pk, [])
        if apart:
            event.next_at = self.now + _APART
        elif not failed:
            ends = [self._held_until(event, subscriber) for subscriber in missing]
            event.next_at = min(end for end in ends if end is not None)
        self._hold_back(event, [subscriber for subscriber in missing if subscriber not in apart])

    def tell_apart(self) -> None:
        """Tell those that work apart, outside any transaction, and note it."""
        for event in self.events:
            if event.pk in self.apart:
                self._tell_one_apart(event)
        posts = {event.post_id for event in self.events if event.pk in self.apart} - {None}
        if not posts:
            return
        # Later events waited for these to be told.
        Event.objects.filter(
            open_events(),
            post_id__in=posts,
            pk__gt=self.events[-1].pk,
            next_at=self.now + _APART,
        ).update(next_at=None)

    def _tell_one_apart(self, event: Event) -> None:
        took: list[str] = []
        has_failed = False
        for subscriber in self.apart[event.pk]:
            if self._held_until(event, subscriber) is not None:
                continue
            if call_outside_transaction(subscriber, event):
                took.append(subscriber.id)
                continue
            has_failed = True
            if event.post_id is not None:
                self.held[event.post_id, subscriber.id] = self.now
        _note_apart(event, took, has_failed=has_failed)


_LOOK: Final = 500
"""Events that a sweep looks for at once."""


_POSTS_OF_EVENTS: Final = Statement(
    lambda ids: (
        Event.objects.filter(open_events(), pk__in=ids).order_by("id").values("id", "post_id")
    )
)


def dispatch(event_id: int) -> bool:
    """Tell every subscriber of the event, and before it of what its post has waiting.

    Answers whether all of them took it; a failing one is told again later, and until then of no later event of
    that post.
    """
    return dispatch_all([event_id])


def dispatch_all(event_ids: Iterable[int]) -> bool:
    """Tell every subscriber of these events, like `dispatch`."""
    ids = list(event_ids)
    found = [(row["id"], row["post_id"]) for row in _POSTS_OF_EVENTS.rows(ids)]
    told = sum((_dispatch_whole(which) for which in _parts(found)), Round())
    return not told.gave_way and told.left.isdisjoint(ids)


def dispatch_posts(post_ids: Iterable[UUID], event_ids: Iterable[int]) -> None:
    """Tell every subscriber of what these posts have waiting, and of these events without a post.

    A worker that is behind tells of other events too: the messages that name them find nothing left to do.
    """
    _dispatch_whole(EventSelection(tuple(post_ids), tuple(event_ids)), takes_along=True)


def _dispatch_whole(which: EventSelection, *, takes_along: bool = False) -> Round:
    """Tell of all of these. What came after them is told on the way, which saves its own transaction."""
    told = round_ = dispatch_due(which, takes_along=takes_along)
    while round_.count >= BATCH:
        round_ = dispatch_due(which)
        told += round_
    return told


def sweep(seconds: float) -> int:
    """Tell of what lost messages, and subscribers that failed, left waiting, for so long at most.

    Answers how many events it took up, oldest first: each is done then, or waits for its next time.
    """
    until = time.monotonic() + seconds
    count = 0
    while found := list(_waiting()[:_LOOK]):
        before = count
        for which in _parts(found):
            if time.monotonic() >= until:
                return count
            count += dispatch_due(which).count
        if count == before:
            break  # the database gives way to others; so does the sweep
    return count


def waiting_event_ids(limit: int = _LOOK) -> list[int]:
    """Ids of events whose turn it is, oldest first, leaving out what failed too often."""
    return [id_ for id_, _ in _waiting()[:limit]]


def failed_events() -> QuerySet[Event]:
    """Events that failed too often, of which nobody is told any more until a person says so."""
    return Event.objects.filter(dispatched_at__isnull=True, attempts__gte=MAX_ATTEMPTS)


def _waiting() -> QuerySet[Event, tuple[int, UUID | None]]:
    return (
        Event.objects.filter(due_events(timezone.now())).order_by("id").values_list("id", "post_id")
    )


def _parts(found: Sequence[tuple[int, UUID | None]]) -> Iterator[EventSelection]:
    """What one transaction takes each: events without a post, and whole posts, whose earlier ones come first."""
    for begin in range(0, len(found), BATCH):
        part = found[begin : begin + BATCH]
        posts = dict.fromkeys(post_id for _, post_id in part if post_id is not None)
        others = tuple(id_ for id_, post_id in part if post_id is None)
        yield EventSelection(tuple(posts), others)
