"""Monthly partitions of events on PostgreSQL: created ahead, filled from the rest, dropped as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from analytics.ingest import partitions
from analytics.ingest.partitions import MONTHS_AHEAD, create_partitions_ahead, drop_before, months
from analytics.models import GOAL_MAX, AnalyticsEvent, RollUp
from analytics.services.retention import forget_old_events
from analytics.services.track import Seen, record_events
from analytics.tasks import prune_events
from proofroom.core.independent_steps import StepsFailed

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def this_month() -> date:
    return timezone.now().date().replace(day=1)


def later(month: date, number: int) -> date:
    for _ in range(abs(number)):
        month = (month + timedelta(days=31)).replace(day=1) if number > 0 else month - timedelta(1)
        month = month.replace(day=1)
    return month


def happened(day: date) -> int:
    moment = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return AnalyticsEvent.objects.create(event_type="view", created_at=moment).pk


def lies() -> dict[int, str]:
    """Return the partition of each event."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, tableoid::regclass::text FROM analytics_analyticsevent")
        return dict(cursor.fetchall())


@pytest.fixture
def other() -> Iterator[Any]:
    """Return a second connection to the same database."""
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None}) as found:
        yield found


def test_the_months_ahead_are_there_once_the_database_is_migrated() -> None:
    ahead = [later(this_month(), number) for number in range(MONTHS_AHEAD + 1)]

    assert [month for month in months() if month >= this_month()] == ahead
    assert create_partitions_ahead() == []


def test_what_is_reported_now_lies_in_its_month() -> None:
    assert record_events(seen=[Seen("view"), Seen("click")]) == 2

    assert set(lies().values()) == {f"analytics_event_{timezone.now():%Y_%m}"}


def test_rows_that_lie_beside_move_into_their_months_with_their_ids() -> None:
    first, last = date(2001, 3, 1), date(2001, 3, 31)
    ids = [
        happened(last),
        happened(first),
        happened(date(2001, 4, 1)),
        happened(date(2000, 12, 31)),
    ]
    assert set(lies().values()) == {"analytics_event_rest"}

    made = create_partitions_ahead()
    again = create_partitions_ahead()

    assert (made, again) == ([date(2000, 12, 1), date(2001, 3, 1), date(2001, 4, 1)], [])
    assert lies() == {
        ids[0]: "analytics_event_2001_03",
        ids[1]: "analytics_event_2001_03",
        ids[2]: "analytics_event_2001_04",
        ids[3]: "analytics_event_2000_12",
    }
    assert happened(first) > max(ids)


def test_a_month_is_dropped_once_all_of_it_is_old_and_added_up() -> None:
    ids = [happened(date(2001, 2, 28)), happened(date(2001, 3, 1)), happened(date(2001, 4, 1))]
    create_partitions_ahead()
    moment = datetime(2001, 4, 1, tzinfo=UTC)

    kept = drop_before(moment, counted_to=ids[0] - 1)
    first = drop_before(moment - timedelta(seconds=1), counted_to=ids[2])
    second = drop_before(moment, counted_to=ids[0])
    third = drop_before(moment, counted_to=ids[1])

    assert (kept, first, second, third) == ([], [date(2001, 2, 1)], [], [date(2001, 3, 1)])
    assert list(lies()) == [ids[2]]


def test_retention_drops_months_and_deletes_the_rest_of_the_last_one() -> None:
    before = timezone.now().date() - timedelta(days=100)
    old, boundary, young = later(before, -2), before - timedelta(days=1), before + timedelta(days=1)
    ids = [happened(old), happened(boundary), happened(young)]
    create_partitions_ahead()
    RollUp.objects.update_or_create(pk=1, defaults={"counted_to": ids[-1]})

    counts = [forget_old_events(days=100), forget_old_events(days=100)]

    # On the first of a month the day before went with its month.
    assert counts == [int(boundary.month == before.month), 0]
    assert list(lies()) == [ids[2]]
    assert old not in months()


@pytest.mark.django_db(transaction=True)
def test_two_at_once_harm_nothing_and_one_waits_for_nobody(other: Any) -> None:
    event = happened(date(2001, 3, 1))
    other.execute("SELECT pg_advisory_xact_lock(%s)", [partitions._MAINTENANCE_LOCK])

    assert create_partitions_ahead() == []
    assert lies() == {event: "analytics_event_rest"}
    other.rollback()
    assert create_partitions_ahead() == [date(2001, 3, 1)]
    RollUp.objects.update_or_create(pk=1, defaults={"counted_to": event})
    assert prune_events() == 0
    assert lies() == {}


@pytest.mark.django_db(transaction=True)
def test_a_long_report_is_not_waited_for(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "_LOCK_TIMEOUT", "50ms")
    event = happened(date(2001, 3, 1))
    other.execute("SELECT count(*) FROM analytics_analyticsevent")

    assert create_partitions_ahead() == []
    assert lies() == {event: "analytics_event_rest"}
    assert record_events(seen=[Seen("view")]) == 1

    other.rollback()
    assert create_partitions_ahead() == [date(2001, 3, 1)]
    assert drop_before(datetime(2001, 4, 1, tzinfo=UTC), counted_to=event) == [date(2001, 3, 1)]


@pytest.mark.django_db(transaction=True)
def test_the_table_is_parted_and_joined_with_all_that_is_in_it() -> None:
    ids = [happened(date(2001, 3, 1)), *(happened(timezone.now().date()) for _ in range(3))]
    longest = f"form:{'a' * (GOAL_MAX - 5)}"
    AnalyticsEvent.objects.filter(pk=ids[0]).update(goal=longest)

    call_command("migrate", "analytics", "0001", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, goal FROM analytics_analyticsevent ORDER BY id")
        joined = cursor.fetchall()
        # An existing installation whose table is not partitioned yet.
        cursor.execute(
            "INSERT INTO analytics_analyticsevent (event_type, metadata, locale, goal, created_at)"
            " VALUES ('view', '{}', '', '', '2001-03-31 23:59:59+00') RETURNING id"
        )
        ids += [cursor.fetchone()[0]]
    plain = (months(), create_partitions_ahead())
    call_command("migrate", "analytics", verbosity=0)

    assert joined == [(ids[0], longest), *((id_, "") for id_ in ids[1:4])]
    assert plain == ([], [])
    now = f"analytics_event_{timezone.now():%Y_%m}"
    old = "analytics_event_2001_03"
    assert lies() == {ids[0]: old, ids[4]: old, ids[1]: now, ids[2]: now, ids[3]: now}
    assert happened(timezone.now().date()) > max(ids)
    drop_before(datetime(2001, 4, 1, tzinfo=UTC), counted_to=max(ids))


@pytest.mark.django_db(transaction=True)
def test_an_emptied_table_keeps_its_months(tmp_path: Any) -> None:
    happened(timezone.now().date())
    before, told = months(), tmp_path / "events.json"
    call_command("dumpdata", "analytics.AnalyticsEvent", output=str(told))

    call_command("flush", interactive=False, verbosity=0)
    emptied = AnalyticsEvent.objects.count()
    call_command("loaddata", str(told), verbosity=0)

    assert (emptied, AnalyticsEvent.objects.count()) == (0, 1)
    assert months() == before


def test_a_month_that_cannot_be_made_keeps_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = [later(this_month(), number) for number in (2, 3)]
    with connection.cursor() as cursor:
        for month in ahead:
            cursor.execute(f"DROP TABLE analytics_event_{month:%Y_%m}")
    create = partitions._create_partition

    def failing(month: date) -> None:
        if month == ahead[0]:
            raise ZeroDivisionError
        create(month)

    monkeypatch.setattr(partitions, "_create_partition", failing)

    with pytest.raises(StepsFailed, match=f"{ahead[0]:%Y-%m}"):
        create_partitions_ahead()

    assert [month for month in months() if month in ahead] == ahead[1:]
