"""Concurrent adding up, late commits, and an aborted process: real transactions on PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from analytics.ingest.event_store import last_settled_id, write_events
from analytics.models import AnalyticsEvent, HeatBatch, PostCount, RollUp, SiteCount
from analytics.rollups.aggregate import add_all, add_up, is_waiting, lock_state
from tests.analytics import naive

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
POST = str(UUID(int=5))


def event(number: int) -> dict[str, Any]:
    return {
        "event_type": ("view", "click")[number % 2],
        "post_id": POST,
        "x": None if number % 2 == 0 else float(number % 7),
        "y": None if number % 2 == 0 else 30.0,
        "viewport_width": 1000,
        "metadata": {},
        "locale": "en",
        "version": 1,
        "variation_of": None,
        "goal": "",
    }


def keep(number: int) -> None:
    write_events([event(n) for n in range(number)], at=AT)


def in_threads(*works: Callable[[], Any]) -> list[BaseException]:
    """Run each in a separate thread with its own connection, started together."""
    begin, broken = threading.Barrier(len(works)), []

    def run(work: Callable[[], Any]) -> None:
        try:
            begin.wait(10)
            work()
        except BaseException as error:
            broken.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return broken


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_several_at_once_count_each_event_once() -> None:
    keep(300)

    def work() -> None:
        while is_waiting():
            add_up(20)

    broken = in_threads(work, work, work)

    assert broken == []
    assert naive.stored() == naive.counted()
    assert SiteCount.objects.get(dimension="total", grain="day").views == 150


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_committed_after_later_ones_is_counted() -> None:
    has_id, may_commit, later = threading.Event(), threading.Event(), threading.Event()
    added: list[int] = []

    def slow() -> None:
        with transaction.atomic():
            keep(1)
            has_id.set()
            assert may_commit.wait(10)

    def quick() -> None:
        assert has_id.wait(10)
        keep(2)
        later.set()

    def adding() -> None:
        assert later.wait(10)
        added.append(add_up())
        may_commit.set()

    assert in_threads(slow, quick, adding) == []

    assert added == [0], "it passed over one that was still being written"
    assert add_up() == 3
    assert naive.stored() == naive.counted()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_report_does_not_wait_for_who_adds_up() -> None:
    keep(1)
    add_up()
    keep(5)
    holds, may_end = threading.Event(), threading.Event()
    added: list[int] = []

    def holding() -> None:
        with transaction.atomic():
            lock_state(wait=True)
            holds.set()
            assert may_end.wait(10)

    def report() -> None:
        assert holds.wait(10)
        added.append(add_up())
        may_end.set()

    assert in_threads(holding, report) == []

    assert added == [0]
    assert add_up() == 5


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["analytics_postcount", "analytics_heatbatch"])
def test_who_is_ended_while_writing_counted_nothing(table: str) -> None:
    keep(30)
    add_up(10)
    before = naive.stored()

    def ends(execute: Any, sql: str, *given: Any) -> Any:
        written = execute(sql, *given)
        if sql.lstrip().startswith(f"INSERT INTO {table} "):
            raise SystemExit
        return written

    with connection.execute_wrapper(ends), pytest.raises(SystemExit):
        add_up(10)
    assert naive.stored() == before
    assert RollUp.objects.get().counted_to == AnalyticsEvent.objects.order_by("id")[9].pk

    assert add_all(60) == 20
    assert naive.stored() == naive.counted()


@pytest.mark.django_db
def test_without_events_there_is_nothing_to_add_and_it_is_known_when(
    django_assert_num_queries: Any,
) -> None:
    assert add_all(60) == 0
    assert last_settled_id() == 0
    state = RollUp.objects.get()
    assert (state.counted_to, state.counted_at is not None) == (0, True)
    with django_assert_num_queries(1):
        assert add_up() == 0
    assert not PostCount.objects.exists()
    assert not HeatBatch.objects.exists()
