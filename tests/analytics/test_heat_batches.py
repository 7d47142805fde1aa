"""Heatmap batches: merged after a day, and migrated from the former table of cells."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

import pytest

from analytics.models import HeatBatch, HeatSheet
from analytics.periods import Period
from analytics.rollups import merge_batches as merge_module
from analytics.rollups.heatmaps import HeatmapSpec, module_clicks, page_heatmap
from analytics.rollups.merge_batches import merge_batches
from analytics.tasks import merge_rare_figures
from proofroom.core.independent_steps import StepsFailed
from tests.analytics.heat_cells import batch, pack, stored_cells

DAY = date(2026, 11, 20)
NEXT = date(2026, 11, 21)
NOW = datetime.combine(NEXT, time(9), UTC)
POST, MODULE = UUID(int=5), str(UUID(int=77))


def sheet(module_id: str = "") -> HeatSheet:
    return HeatSheet.objects.create(
        post_id=POST, event_type="click", module_id=module_id, device="mobile", version=3
    )


def batches() -> list[tuple[int, date, int]]:
    rows = HeatBatch.objects.order_by("sheet_id", "day", "last_event")
    return [(row.sheet_id, row.day, len(row.cells)) for row in rows]


@pytest.mark.django_db
def test_a_past_days_batches_merge_to_one_per_sheet_with_equal_totals() -> None:
    page, module = sheet(), sheet(MODULE)
    for hits in (1, 300, 511, 205):
        batch(page, DAY, [pack(99, 4_999, hits, 100 * hits, 99 * hits), pack(3, 4, 2, 7, 0)])
        batch(module, DAY, [pack(0, 1_000), pack(0, 1_000), pack(5, 6, 1, 10, 9)])
    batch(page, NEXT, [pack(1, 1)])
    batch(page, NEXT, [pack(1, 1)])
    spec = HeatmapSpec(POST, Period(DAY, NEXT))
    before, reports = stored_cells(), (page_heatmap(spec), module_clicks(spec))

    assert merge_batches(NOW) == 2

    # 1,017 hits of one cell are two numbers.
    one_each = [(page.pk, DAY, 3), (page.pk, NEXT, 1), (page.pk, NEXT, 1), (module.pk, DAY, 2)]
    assert batches() == one_each
    assert stored_cells() == before
    assert (page_heatmap(spec), module_clicks(spec)) == reports
    assert merge_batches(NOW) == 0

    batch(page, DAY, [pack(99, 4_999, 1, 5, 5)])
    after = stored_cells()
    assert merge_batches(NOW) == 1
    assert batches() == one_each
    assert stored_cells() == after


@pytest.mark.django_db
def test_a_day_that_cannot_be_merged_keeps_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    page = sheet()
    for day in (DAY, NEXT):
        batch(page, day, [pack(1, 1)])
        batch(page, day, [pack(1, 1)])
    merge_day = merge_module._merge_day

    def failing(day: date) -> int:
        if day == DAY:
            raise ZeroDivisionError
        return merge_day(day)

    monkeypatch.setattr(merge_module, "_merge_day", failing)

    with pytest.raises(StepsFailed, match="2026-11-20"):
        merge_batches(NOW + timedelta(days=1))

    assert batches() == [(page.pk, DAY, 1), (page.pk, DAY, 1), (page.pk, NEXT, 1)]


@pytest.mark.django_db
def test_the_daily_task_merges_batches() -> None:
    page = sheet()
    batch(page, DAY, [pack(1, 1)])
    batch(page, DAY, [pack(1, 1)])

    assert merge_rare_figures() == 0

    assert batches() == [(page.pk, DAY, 1)]
