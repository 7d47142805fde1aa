"""Views, clicks and figures are deleted by age, and only after being added up."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

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
from analytics.services.retention import forget_old_events, forget_old_figures
from analytics.tasks import prune_events
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


def test_what_is_not_added_up_yet_is_kept() -> None:
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


def test_figures_of_days_and_of_whole_months_are_forgotten(
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
