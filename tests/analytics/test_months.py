"""Finished months have their own rows, and no report depends on when they were created."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from analytics.experiments.evaluation import count_arms, count_goals
from analytics.models import AnalyticsEvent, PostCount, RollUp, SiteCount
from analytics.periods import Period
from analytics.rollups import aggregate
from analytics.rollups.aggregate import add_all, close_months, months_to
from analytics.rollups.summaries import summarize
from analytics.tasks import add_up_events
from proofroom.core.actor import SYSTEM
from tests.analytics import naive

pytestmark = pytest.mark.django_db

POST = UUID(int=1)
YEAR = Period(date(2025, 12, 15), date(2026, 11, 20))


def keep(*days: date) -> None:
    AnalyticsEvent.objects.bulk_create(
        AnalyticsEvent(
            event_type=kind,
            post_id=POST,
            variation_of=POST,
            locale="en",
            goal="signup" if kind == "click" else "",
            metadata={"referrer": "a.example"},
            created_at=datetime(day.year, day.month, day.day, 12, tzinfo=UTC),
        )
        for day in days
        for kind in ("view", "view", "click")
    )


def scene() -> None:
    """Create two days of each month, and the ends of years."""
    keep(*(date(2026, month, day) for month in range(1, 12) for day in (1, 17)))
    keep(date(2025, 12, 14), date(2025, 12, 15), date(2025, 12, 31))
    add_all(60)


def at(month: int) -> datetime:
    return datetime(2026, month, 9, tzinfo=UTC)


def told() -> list[Any]:
    return [
        *(replace(summarize(YEAR, post, SYSTEM), counted_at=None) for post in (None, POST)),
        count_arms(POST, YEAR, "signup"),
        count_goals(POST, YEAR),
    ]


def stored_months() -> list[date]:
    rows = PostCount.objects.filter(grain="month", dimension="total").order_by("day")
    return list(rows.values_list("day", flat=True))


def test_reports_are_the_same_whatever_months_have_rows() -> None:
    scene()
    before = told()

    for month in (1, 2, 7, 11, 12):
        close_months(at(month))
        assert told() == before
        assert naive.stored() == naive.counted()

    assert before[0].totals.views == 48
    assert stored_months() == [date(2025, 12, 1), *(date(2026, n, 1) for n in range(1, 12))]


def test_a_month_is_closed_once_and_never_before_it_is_over() -> None:
    scene()

    for _ in range(2):
        close_months(at(11))
        close_months(at(3))

    assert months_to() == date(2026, 11, 1)
    assert stored_months()[-1] == date(2026, 10, 1)
    assert naive.stored() == naive.counted()


def test_what_comes_late_goes_into_its_month() -> None:
    scene()
    close_months(at(11))

    keep(date(2026, 3, 4), date(2026, 11, 4))
    add_all(60)

    found = SiteCount.objects.filter(grain="month", dimension="total", day=date(2026, 3, 1))
    assert found.get().views == 6
    assert naive.stored() == naive.counted()


def test_who_is_ended_while_closing_made_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene()
    before = naive.stored()
    make = aggregate.sum_months

    def ends(table: Any, first: date, end: date) -> None:
        make(table, first, end)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(aggregate, "sum_months", ends)
        with pytest.raises(SystemExit):
            close_months(at(11))
    assert (naive.stored(), months_to()) == (before, date.min)

    close_months(at(11))
    assert naive.stored() == naive.counted()


def test_the_scheduler_closes_months() -> None:
    scene()

    assert add_up_events() == 0

    assert RollUp.objects.get().months_to >= date(2026, 11, 1)
    assert len(stored_months()) >= 11
