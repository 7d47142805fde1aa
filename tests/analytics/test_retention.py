"""Views, clicks and figures are deleted by age, and only after being added up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from analytics.experiments.evaluation import count_arms, count_goals
from analytics.models import (
    AnalyticsEvent,
    Dimension,
    Grain,
    HeatBatch,
    HeatSheet,
    PostCount,
    RollUp,
    SiteCount,
)
from analytics.periods import Period
from analytics.rollups import aggregate
from analytics.rollups.aggregate import add_all, close_months, months_to
from analytics.rollups.summaries import summarize
from analytics.services.retention import forget_old_events, forget_old_figures
from analytics.tasks import add_up_events, prune_events
from proofroom.core.actor import SYSTEM
from tests.analytics import naive
from tests.analytics.heat_cells import batch, pack

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def happened(*days_ago: int) -> list[int]:
    """Create events that many days ago, the first with the lowest id."""
    now = timezone.now()
    return [
        AnalyticsEvent.objects.create(event_type="view", created_at=now - timedelta(days=days)).pk
        for days in days_ago
    ]


def counted_to(event_id: int) -> None:
    RollUp.objects.update_or_create(pk=1, defaults={"counted_to": event_id})


def stored() -> list[int]:
    return list(AnalyticsEvent.objects.order_by("id").values_list("id", flat=True))


@pytest.mark.parametrize("days", [30, 0])
def test_what_is_old_is_forgotten(days: int) -> None:
    ids = happened(500, 31, 29)
    counted_to(ids[-1])

    counts = [forget_old_events(days=days), forget_old_events(days=days)]

    assert counts == ([2, 0] if days else [0, 0])
    assert stored() == (ids[2:] if days else ids)


def test_events_not_added_up_yet_are_kept() -> None:
    ids = happened(500, 499, 498)
    counted_to(ids[0])

    assert forget_old_events(days=30) == 1
    assert stored() == ids[1:]


def test_nothing_goes_before_anything_is_added_up() -> None:
    ids = happened(500)

    assert forget_old_events(days=30) == 0
    assert stored() == ids


def test_it_takes_as_many_batches_as_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analytics.services.retention.BATCH_SIZE", 2)
    ids = happened(500, 499, 498, 1, 497)
    counted_to(ids[-1])

    assert forget_old_events(days=30) == 4
    assert stored() == ids[3:4]


def test_the_scheduler_forgets_after_400_days() -> None:
    ids = happened(401, 399)
    counted_to(ids[-1])

    assert prune_events() == 1
    assert prune_events() == 0
    assert stored() == ids[1:]


def _figures(day: date, grain: Grain) -> None:
    told = {"day": day, "grain": grain}
    SiteCount.objects.create(dimension=Dimension.TOTAL, views=1, **told)
    PostCount.objects.create(dimension=Dimension.TOTAL, post_id=uuid4(), views=1, **told)


def _cell(day: date) -> None:
    sheet = HeatSheet.objects.create(post_id=uuid4(), event_type="click", device="mobile")
    batch(sheet, day, [pack(1, 1)])


def test_daily_and_monthly_figures_are_deleted(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr("analytics.services.retention.BATCH_SIZE", 2)
    monkeypatch.setattr("analytics.services.retention.timezone.now", lambda: NOW)
    for day in (date(2026, 10, 1), date(2026, 10, 22), date(2026, 10, 23), date(2026, 11, 1)):
        _figures(day, Grain.DAY)
        _cell(day)
    for month in (date(2026, 8, 1), date(2026, 9, 1), date(2026, 10, 1)):
        _figures(month, Grain.MONTH)

    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"analytics_figures_days": 30})
    assert prune_events() == 10
    assert forget_old_figures(days=30) == 0
    assert forget_old_figures(days=0) == 0

    for model in (SiteCount, PostCount):
        assert list(model._default_manager.order_by("id").values_list("grain", "day")) == [
            ("day", date(2026, 10, 23)),
            ("day", date(2026, 11, 1)),
            ("month", date(2026, 10, 1)),
        ]
    kept = [date(2026, 10, 23), date(2026, 11, 1)]
    assert list(HeatBatch.objects.order_by("day").values_list("day", flat=True)) == kept
    assert HeatSheet.objects.count() == 2


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
