"""Of values that pages can invent, the most frequent ones stay."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from analytics.experiments.evaluation import count_arms, count_goals
from analytics.models import HeatBatch, HeatSheet, PostCount, SiteCount
from analytics.periods import Period
from analytics.rollups import merge_rare
from analytics.rollups.merge_rare import OTHER, merge_rare_values
from proofroom.core.independent_steps import StepsFailed
from tests.analytics.heat_cells import batch, pack

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 20)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
POST = UUID(int=7)


def crowd(number: int, day: date = DAY, grain: str = "day") -> None:
    SiteCount.objects.bulk_create(
        SiteCount(dimension="referrer", grain=grain, day=day, value=f"h{n}.example", views=n + 1)
        for n in range(number)
    )


def test_the_rare_ones_become_one_and_sums_stay() -> None:
    crowd(205)

    merged = [merge_rare_values(NOW), merge_rare_values(NOW)]

    rows = dict(SiteCount.objects.values_list("value", "views"))
    assert merged == [6, 0]
    assert len(rows) == 200
    assert rows[OTHER] == 1 + 2 + 3 + 4 + 5 + 6
    assert rows["h6.example"] == 7
    assert sum(rows.values()) == sum(range(1, 206))


def test_a_day_that_is_not_over_and_few_values_stay() -> None:
    crowd(201, NOW.date())
    crowd(200)
    crowd(201, date(2026, 11, 1), "month")

    assert merge_rare_values(NOW) == 0
    assert SiteCount.objects.count() == 602


def test_what_comes_late_goes_into_the_same() -> None:
    crowd(205)
    merge_rare_values(NOW)
    SiteCount.objects.create(
        dimension="referrer", grain="day", day=DAY, value="late.example", views=1
    )

    assert merge_rare_values(NOW) == 1
    assert SiteCount.objects.get(value=OTHER).views == 22


def test_arms_of_a_test_stay_when_goals_are_many() -> None:
    PostCount.objects.create(
        post_id=POST,
        dimension="arm",
        grain="day",
        day=DAY,
        value=str(POST),
        views=3,
        conversions=201,
    )
    PostCount.objects.bulk_create(
        PostCount(
            post_id=POST, dimension="arm", grain="day", day=DAY, value=f"{POST} g{n}", conversions=1
        )
        for n in range(201)
    )

    merged = merge_rare_values(NOW)

    arms = count_arms(POST, Period(DAY, DAY), None)
    assert merged == 2
    assert [(arm.post_id, arm.views, arm.conversions) for arm in arms] == [(POST, 3, 201)]
    assert len(count_goals(POST, Period(DAY, DAY))) == 199


def test_no_stranger_crowds_out_the_forms_that_were_taken() -> None:
    of = {"post_id": POST, "grain": "day", "day": DAY}
    arm = {**of, "dimension": "arm"}
    PostCount.objects.create(**arm, value=str(POST), views=9)
    PostCount.objects.bulk_create(
        [
            *(PostCount(**arm, value=f"{POST} g{n}", conversions=50) for n in range(205)),
            *(PostCount(**of, dimension="goal", value=f"g{n}", conversions=50) for n in range(205)),
            PostCount(**arm, value=f"{POST} form:contact", conversions=1),
            PostCount(**of, dimension="goal", value="form:contact", conversions=1),
        ]
    )

    assert [merge_rare_values(NOW), merge_rare_values(NOW)] == [12, 0]

    kept = PostCount.objects.filter(value__endswith="form:contact")
    assert [row.conversions for row in kept] == [1, 1]
    assert count_arms(POST, Period(DAY, DAY), "form:contact")[0].conversions == 1


def test_clicks_in_unknown_modules_are_dropped() -> None:
    of = {"post_id": POST, "dimension": "module", "grain": "day", "day": DAY}
    real, made_up = str(UUID(int=1_000)), [str(UUID(int=n)) for n in range(202)]
    clicks = {real: 5, **dict.fromkeys(made_up, 1)}
    PostCount.objects.bulk_create(
        PostCount(**of, value=name, clicks=number) for name, number in clicks.items()
    )
    for name in ("", "~", *clicks):
        sheet = HeatSheet.objects.create(post_id=POST, event_type="click", module_id=name)
        batch(sheet, DAY, [pack(1, 1)])
    batch(sheet, NOW.date(), [pack(1, 1)])

    assert merge_rare_values(NOW) == 4

    cells = HeatBatch.objects.values_list("sheet__module_id", "day")
    left = {(name, DAY) for name in ("", "~", real, *made_up[:198])}
    assert set(cells) == left | {(made_up[-1], NOW.date())}
    assert HeatSheet.objects.count() == 202


def test_a_day_that_cannot_be_merged_keeps_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = date(2026, 11, 19)
    crowd(205, broken)
    crowd(205)
    merge = merge_rare._merge_values

    def failing(table: type[SiteCount | PostCount], of: dict[str, Any]) -> int:
        if of["day"] == broken:
            raise ZeroDivisionError
        return merge(table, of)

    monkeypatch.setattr(merge_rare, "_merge_values", failing)

    with pytest.raises(StepsFailed, match="2026, 11, 19"):
        merge_rare_values(NOW)

    assert SiteCount.objects.filter(day=DAY).count() == 200
    assert SiteCount.objects.filter(day=broken).count() == 205
