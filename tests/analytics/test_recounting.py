"""Figures are recomputed from the remaining events, and older ones stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.utils import timezone

from analytics.models import AnalyticsEvent, HeatBatch, PostCount, SiteCount
from analytics.rollups.aggregate import add_all
from tests.analytics import naive

pytestmark = pytest.mark.django_db

POST = UUID(int=1)


def keep(at: datetime, **values: Any) -> None:
    values = {"event_type": "view", "metadata": {"referrer": "a.example"}, "locale": "en", **values}
    AnalyticsEvent.objects.create(created_at=at, post_id=POST, version=1, **values)


def recounted() -> str:
    out = StringIO()
    call_command("recount_figures", stdout=out)
    return out.getvalue()


def scene() -> datetime:
    """Create four days of two months, without deletion by age."""
    noon = datetime.combine(timezone.now().date(), datetime.min.time(), UTC).replace(hour=12)
    begin = noon.replace(day=1) - timedelta(days=1)
    for days in (0, 1, 2, 3):
        for _ in range(days + 1):
            keep(begin + timedelta(days=days))
        keep(
            begin + timedelta(days=days), event_type="click", viewport_width=1000, x=10, y=20 + days
        )
    add_all(60)
    return begin


def test_the_same_events_give_the_same_figures() -> None:
    scene()
    before = naive.stored()

    said = recounted()

    assert "Recounted 14 views and clicks" in said
    assert naive.stored() == before == naive.counted()


def test_broken_figures_are_mended() -> None:
    scene()
    before = naive.stored()
    SiteCount.objects.filter(dimension="total").update(views=999)
    PostCount.objects.filter(dimension="referrer").delete()
    HeatBatch.objects.update(cells=[5])

    recounted()

    assert naive.stored() == before


def test_days_of_which_events_are_deleted_stay_and_count_in_their_month() -> None:
    begin = scene()
    before = naive.stored()
    cut = begin + timedelta(days=1, minutes=1)
    AnalyticsEvent.objects.filter(created_at__lt=cut).delete()

    said = recounted()

    assert f"since {(begin + timedelta(days=3)).date()}" in said
    assert naive.stored() == before


def test_nothing_to_count_leaves_the_figures() -> None:
    scene()
    AnalyticsEvent.objects.all().delete()
    before = naive.stored()

    assert "There are no views and clicks" in recounted()
    assert naive.stored() == before
