"""The outbox: delivery after the commit, to every subscriber, once, in order for each post; retried
after a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from uuid import UUID, uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event, QueueFailure
from proofroom.core.tasks import dispatch_event, dispatch_events, sweep_events
from proofroom.taxonomies.models import Term
from tests import make
from tests.conftest import RunOnCommit
from tests.core.listening import (
    Listener,
    ListenerOfMany,
    subscribe,
    subscribe_to_many,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_other_subscribers")]
NAME = "post.exported"
POST, OTHER = uuid4(), uuid4()


def told(name: str = "listener", *names: str) -> list[str]:
    return [f"tests.core.listening.{each}" for each in (name, *names)]


def record(post_id: UUID | None = POST, name: str = NAME) -> int:
    return outbox.record(name, actor=make.actor("admin"), payload={}, post_id=post_id).pk


def state(id_: int) -> tuple[list[str], int, bool, bool]:
    """Return the subscribers served, the number of attempts, and whether it is done or postponed."""
    event = Event.objects.get(pk=id_)
    return (
        event.told,
        event.attempts,
        event.dispatched_at is not None,
        event.next_at is not None and event.next_at > timezone.now(),
    )


def time_comes() -> None:
    Event.objects.filter(next_at__isnull=False).update(next_at=timezone.now())


def given_up_lines(caplog: pytest.LogCaptureFixture) -> int:
    return sum("is not retried" in record.message for record in caplog.records)


def test_an_event_is_delivered_once_after_the_commit(run_on_commit: RunOnCommit) -> None:
    listener = Listener()
    subscribe([NAME], listener)

    with run_on_commit():
        id_ = record()
        assert listener.ids == []

    assert listener.ids == [id_]
    assert state(id_) == (told(), 1, True, False)
    assert outbox.waiting_event_ids() == []
    dispatch_event(id_, str(POST))
    dispatch_events([], [str(POST)])
    assert (sweep_events(), listener.ids) == (0, [id_])


def test_an_event_that_nobody_waits_for_is_done_at_once() -> None:
    assert state(record()) == ([], 0, True, False)
    assert outbox.waiting_event_ids() == []


def test_a_wake_up_that_got_lost_is_found_by_the_sweep(
    monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    listener = Listener()
    subscribe([NAME], listener)

    def broken(event_id: int, post_id: str) -> None:
        raise ConnectionError("the broker is down")

    monkeypatch.setattr(dispatch_event, "delay", broken)
    with run_on_commit():
        id_ = record()
    assert listener.ids == []

    assert (sweep_events(), listener.ids) == (1, [id_])


def test_only_the_failing_subscriber_is_called_again() -> None:
    failing, other = Listener("failing", fails=lambda event: True), Listener("other")
    subscribe([NAME], failing)
    subscribe([NAME], other)
    id_ = record()

    assert outbox.dispatch(id_) is False
    assert state(id_) == (told("other"), 1, False, True)
    assert (sweep_events(), failing.refused) == (0, 1), "its time has not come"

    time_comes()
    failing.fails = lambda event: False
    assert sweep_events() == 1

    assert (failing.ids, other.ids) == ([id_], [id_])
    assert state(id_) == (told("other", "failing"), 2, True, False)


def test_only_a_failing_subscribers_writes_are_rolled_back() -> None:
    class Writes(Listener):
        def __call__(self, event: Event) -> None:
            make.term(self.name)
            super().__call__(event)

    subscribe([NAME], Writes("failing", fails=lambda event: True))
    subscribe([NAME], Writes("other"))

    outbox.dispatch(record())

    assert list(Term.objects.values_list("name", flat=True)) == ["other"]


def test_the_waits_double_up_to_an_hour() -> None:
    subscribe([NAME], Listener(fails=lambda event: True))
    id_ = record()
    waits = []
    for _ in range(10):
        Event.objects.update(next_at=None)
        before = timezone.now()
        outbox.dispatch(id_)
        next_at: datetime | None = Event.objects.get(pk=id_).next_at
        assert next_at is not None
        waits.append((next_at - before) // timedelta(seconds=30))

    assert waits == [1, 2, 4, 8, 16, 32, 64, 120, 120, 120]


def test_a_failed_subscriber_gets_no_later_events_of_that_post() -> None:
    first = 0
    failing, other = Listener("failing", lambda event: event.pk == first), Listener("other")
    for listener in (failing, other):
        subscribe([NAME], listener)
    first, second, elsewhere, third = record(), record(), record(OTHER), record()

    outbox.sweep(25)

    assert other.ids == [first, second, elsewhere, third]
    assert failing.ids == [elsewhere]
    assert state(second) == (told("other"), 0, False, True)
    assert outbox.waiting_event_ids() == []
    fourth = record()
    outbox.dispatch(fourth)
    assert (failing.ids, other.ids[-1]) == ([elsewhere], fourth)
    assert state(fourth) == (told("other"), 0, False, True)

    time_comes()
    first_id, first = first, 0
    assert sweep_events() == 4

    assert failing.ids == [elsewhere, first_id, second, third, fourth]
    assert len(other.ids) == 5


def test_events_without_a_post_hold_nobody_back() -> None:
    listener = Listener(fails=lambda event: event.pk == first)
    subscribe([NAME], listener)
    first = 0
    first, second = record(None), record(None)

    assert outbox.sweep(25) == 2

    assert listener.ids == [second]
    assert [state(id_)[1:] for id_ in (first, second)] == [(1, False, True), (1, True, False)]


def test_an_event_is_delivered_after_its_posts_earlier_ones() -> None:
    listener = Listener()
    subscribe([NAME], listener)
    first, elsewhere, second = record(), record(OTHER), record()

    outbox.dispatch(second)

    assert listener.ids == [first, second]
    assert outbox.waiting_event_ids() == [elsewhere]


def test_more_events_than_one_transaction_takes_are_delivered_in_order() -> None:
    listener = Listener()
    subscribe([NAME], listener)
    ids = [record() for _ in range(120)]

    outbox.dispatch(ids[-1])

    assert listener.ids == ids
    assert outbox.waiting_event_ids() == []


def test_an_event_that_is_given_up_is_said_once_and_holds_nobody_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing = Listener(fails=lambda event: event.pk == first)
    subscribe([NAME], failing)
    first = 0
    first, second = record(), record()

    for _ in range(outbox.MAX_ATTEMPTS - 1):
        outbox.dispatch(first)
        time_comes()
    assert (given_up_lines(caplog), failing.ids) == (0, [])
    assert outbox.waiting_event_ids() == [first, second]
    assert not outbox.failed_events().exists()

    outbox.dispatch(first)

    assert (given_up_lines(caplog), failing.ids) == (1, [second])
    assert [event.pk for event in outbox.failed_events()] == [first]
    assert state(first) == ([], outbox.MAX_ATTEMPTS, False, False)
    outbox.dispatch(first)
    assert (sweep_events(), given_up_lines(caplog)) == (0, 1)
    assert failing.refused == outbox.MAX_ATTEMPTS


def test_an_admin_retries_given_up_events(run_on_commit: RunOnCommit) -> None:
    failing, other = Listener("failing", lambda event: True), Listener("other")
    subscribe([NAME], failing)
    subscribe([NAME], other)
    id_, done = record(), record(None)
    outbox.dispatch(id_)
    Event.objects.filter(pk=done).update(dispatched_at=timezone.now())
    Event.objects.filter(pk=id_).update(attempts=outbox.MAX_ATTEMPTS, next_at=None)
    failing.fails = lambda event: False

    with run_on_commit():
        assert outbox.redeliver(event_ids=[id_, done], actor=make.actor("admin")) == 1

    assert (failing.ids, other.ids) == ([id_], [id_])
    assert state(id_) == (told("other", "failing"), 1, True, False)
    entry = Event.objects.get(name="events.told-again")
    assert (entry.payload, entry.actor_name) == ({"events": [id_]}, "admin")
    assert outbox.redeliver(event_ids=[id_], actor=make.actor("admin")) == 0


@pytest.mark.parametrize("role", ["editor", "translator", "ai_agent"])
def test_only_settings_managers_retry_events(role: str) -> None:
    subscribe([NAME], Listener())
    id_ = record()
    Event.objects.filter(pk=id_).update(attempts=outbox.MAX_ATTEMPTS)

    with pytest.raises(NotAllowed):
        outbox.redeliver(event_ids=[id_], actor=make.actor(role))

    assert state(id_)[1] == outbox.MAX_ATTEMPTS


def test_an_event_of_a_name_that_nobody_knows_any_more_is_done() -> None:
    known = Listener()
    subscribe([NAME], known)
    old = Event.objects.create(name="post.frobnicated", via="api", post_id=POST)
    new = record()

    assert outbox.sweep(25) == 2

    assert (state(old.pk)[2], known.ids) == (True, [new])


def test_forgotten_events_are_delivered_to_nobody() -> None:
    listener = Listener()
    subscribe([NAME], listener)
    id_ = record()

    outbox.forget([id_])

    assert (outbox.dispatch(id_), listener.ids) == (True, [])


def test_a_sweep_ends_with_its_time_and_takes_the_oldest_first() -> None:
    listener = Listener()
    subscribe([NAME], listener)
    ids = [record(POST if number % 3 else OTHER) for number in range(130)]

    assert outbox.sweep(0) == 0
    assert listener.ids == []
    assert outbox.sweep(25) == 130

    assert listener.ids == ids


def test_a_locking_subscriber_has_its_own_transaction() -> None:
    class Locks(Listener):
        def __call__(self, event: Event) -> None:
            outbox.require_own_transaction()
            super().__call__(event)

    other, locks = Listener("other"), Locks("locks")
    subscribe([NAME], other)
    subscribe([NAME], locks)
    first, elsewhere, second = record(), record(OTHER), record()

    assert outbox.sweep(25) == 3

    # Events taken by others before its query are not affected.
    assert other.ids == [first, elsewhere, second]
    assert locks.ids == [first, second, elsewhere]
    for id_ in (first, elsewhere, second):
        assert state(id_) == (
            told("other", "locks"),
            1,
            True,
            False,
        )


def test_an_event_without_a_post_has_its_own_transaction() -> None:
    class Locks(Listener):
        def __call__(self, event: Event) -> None:
            outbox.require_own_transaction()
            super().__call__(event)

    other, locks = Listener("other"), Locks("locks")
    subscribe([NAME], other)
    subscribe([NAME], locks)
    ids = [record(None), record(), record(None), record(OTHER)]

    assert outbox.sweep(25) == 4

    assert other.ids == ids
    assert sorted(locks.ids) == ids
    for id_ in ids:
        assert state(id_) == (told("other", "locks"), 1, True, False)
    more = [record(), record(None)]
    assert outbox.dispatch_all(more)
    assert sorted(locks.ids) == [*ids, *more]


def test_two_subscribers_of_one_name_are_refused() -> None:
    subscribe([NAME], Listener())

    with pytest.raises(ImproperlyConfigured, match=r"the id tests\.core\.listening\.listener"):
        subscribe([NAME], Listener())


class WritesMany(ListenerOfMany):
    """Writes a term for each event."""

    def __call__(self, event: Event) -> None:
        make.term(f"{self.name} {event.pk}")
        super().__call__(event)


def test_a_batch_subscriber_gets_all_due_events_at_once() -> None:
    many, other = ListenerOfMany(), Listener("other")
    subscribe_to_many([NAME], many)
    subscribe([NAME], other)
    ids = [record(POST if number % 2 else OTHER) for number in range(8)]

    assert outbox.dispatch_all(ids)

    assert (many.sizes, many.ids, other.ids) == ([8], ids, ids)
    assert [state(id_) for id_ in ids] == [(told("many", "other"), 1, True, False)] * 8


def test_a_failed_event_of_a_batch_is_repeated_alone_and_blocks_its_post() -> None:
    first = 0
    many, other = WritesMany(fails=lambda event: event.pk == first), Listener("other")
    subscribe_to_many([NAME], many)
    subscribe([NAME], other)
    elsewhere, first, second = record(OTHER), record(), record()

    assert outbox.dispatch_all([elsewhere, first, second]) is False

    assert many.sizes == [3, 1, 1], "together, then one by one; not of the later one of the post"
    assert list(Term.objects.values_list("name", flat=True)) == [f"many {elsewhere}"]
    assert other.ids == [elsewhere, first, second]
    assert [state(id_)[2] for id_ in (elsewhere, first, second)] == [True, False, False]
    third = record()
    assert outbox.dispatch(third) is False
    assert many.sizes == [3, 1, 1]

    time_comes()
    first_id, first = first, 0
    assert sweep_events() == 3
    assert (many.sizes[3:], many.ids[-3:]) == ([3], [first_id, second, third])


class WritesAlong(ListenerOfMany):
    """Stores a row together with the receipt of each event; `wrong` selects events for which that fails."""

    def __init__(self, wrong: Callable[[Event], bool] = lambda event: False) -> None:
        super().__init__()
        self.wrong = wrong

    def __call__(self, event: Event) -> None:
        since = "never" if self.wrong(event) else timezone.now()
        row = QueueFailure(error=str(event.pk), text="", since=since, failed_at=timezone.now())
        outbox.insert_with_deliveries([row])
        super().__call__(event)


def test_batch_subscribers_inserts_commit_with_the_delivery_record() -> None:
    many, other = WritesAlong(), Listener("other")
    subscribe_to_many([NAME], many)
    subscribe([NAME], other)
    ids = [record(POST if number % 2 else OTHER) for number in range(4)]

    with CaptureQueriesContext(connection) as sent:
        assert outbox.dispatch_all(ids)

    assert [state(id_) for id_ in ids] == [(told("many", "other"), 1, True, False)] * 4
    assert QueueFailure.objects.count() == 4
    if connection.vendor == "postgresql":
        [stored] = [query["sql"] for query in sent if "INSERT" in query["sql"]]
        assert "UPDATE" in stored


def test_rows_that_cannot_stand_undo_the_batch_and_are_stored_one_by_one() -> None:
    first = 0
    many, other = WritesAlong(wrong=lambda event: event.pk == first), Listener("other")
    subscribe_to_many([NAME], many)
    subscribe([NAME], other)
    elsewhere, first, second = record(OTHER), record(), record()

    assert outbox.dispatch_all([elsewhere, first, second]) is False

    assert many.sizes == [3, 1, 1], "together, then one by one; not of the later one of the post"
    assert list(QueueFailure.objects.values_list("error", flat=True)) == [str(elsewhere)]
    assert other.ids[-3:] == [elsewhere, first, second]
    assert [state(id_)[2] for id_ in (elsewhere, first, second)] == [True, False, False]


def test_a_locking_subscriber_beside_a_batch_subscriber_is_called_once() -> None:
    class Locks(Listener):
        def __call__(self, event: Event) -> None:
            outbox.require_own_transaction()
            super().__call__(event)

    many, locks = WritesMany(), Locks("locks")
    subscribe_to_many([NAME], many)
    subscribe([NAME], locks)
    ids = [record(), record(OTHER), record(), record(OTHER)]

    assert outbox.sweep(25) == 4

    assert (many.ids, len(locks.ids)) == (ids, 4)


def test_a_worker_that_is_behind_takes_along_what_others_wait_for() -> None:
    listener = Listener()
    subscribe([NAME], listener)
    early, own, without, late = record(OTHER), record(), record(None), record(OTHER)

    # Independent of the machine's speed.
    Event.objects.update(created_at=timezone.now() + timedelta(hours=1))
    dispatch_event(own, str(POST))
    assert listener.ids == [own], "nothing waits long"
    Event.objects.filter(pk=without).update(created_at=timezone.now() - timedelta(seconds=1))
    dispatch_event(without, "")

    assert listener.ids == [own, early, without, late]


def test_what_waits_for_its_time_keeps_back_what_would_be_taken_along() -> None:
    failing = Listener(fails=lambda event: event.pk == early)
    subscribe([NAME], failing)
    early = 0
    early, own = record(OTHER), record()
    outbox.dispatch(early)
    late = record(OTHER)
    Event.objects.update(created_at=timezone.now() - timedelta(seconds=1))

    dispatch_event(own, str(POST))

    assert failing.ids == [own]
    assert state(late) == ([], 0, False, True)


def test_scheduled_deliveries_do_not_delay_others() -> None:
    listener = Listener(fails=lambda event: event.pk in waiting)
    subscribe([NAME], listener)
    waiting: list[int] = []
    waiting = [record(uuid4()) for _ in range(100)]
    outbox.dispatch_all(waiting)
    posts = list(Event.objects.filter(pk__in=waiting).values_list("post_id", flat=True))
    free = uuid4()
    after, other = record(posts[0]), record(free)

    dispatch_events([], [*map(str, posts), str(free)])

    assert listener.ids == [other]
    assert state(after) == ([], 0, False, True)


def test_a_subscriber_stopped_by_the_database_is_called_again() -> None:
    class Locked(Listener):
        def __call__(self, event: Event) -> None:
            make.term("Undone")
            if not self.refused:
                self.refused += 1
                raise OperationalError("database is locked")
            super().__call__(event)

    locked, other = Locked("locked"), Listener("other")
    subscribe([NAME], locked)
    subscribe([NAME], other)
    id_ = record()

    assert outbox.dispatch(id_) is False
    assert state(id_) == (told("other"), 1, False, True)
    assert (locked.ids, list(Term.objects.values_list("name", flat=True))) == ([], [])

    time_comes()
    assert sweep_events() == 1
    assert (locked.ids, other.ids) == ([id_], [id_])
    assert state(id_) == (told("other", "locked"), 2, True, False)


def test_a_sweep_goes_on_until_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a limited number at a time."""
    monkeypatch.setattr(import_module("proofroom.core.outbox.dispatch"), "_SWEEP_BATCH", 2)
    listener = Listener(fails=lambda event: event.pk == refused)
    subscribe([NAME], listener)
    ids = [record(uuid4()) for _ in range(7)]
    refused = ids[1]

    assert outbox.sweep(25) == 7

    assert listener.ids == [id_ for id_ in ids if id_ != refused]
    assert outbox.sweep(25) == 0
