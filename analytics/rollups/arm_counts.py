"""Tests of variations: what each arm was given."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from analytics.models import Dimension, PostCount
from analytics.rollups.merge_rare import OTHER
from analytics.rollups.months import months_to
from analytics.rollups.periods import Period
from analytics.rollups.report_types import ArmDay, ArmFigures, Goal

_ID: Final = 36
"""Characters of the id of an arm; a goal follows after a space."""
_SUMS: Final = {"seen": Sum("views"), "hit": Sum("clicks"), "reached": Sum("conversions")}


def arms(original_id: UUID, period: Period, goal: str | None) -> list[ArmFigures]:
    """The original first, then those of which anything is counted."""
    rows = (
        _of(original_id, goal)
        .filter(period.counts(months_to()))
        .values_list("value")
        .annotate(**_SUMS)
    )
    found: dict[UUID, list[int]] = defaultdict(lambda: [0, 0, 0])
    found[original_id] = [0, 0, 0]
    for value, *numbers in rows.order_by("value"):
        _add(found[UUID(value[:_ID])], value, goal, numbers)
    return [ArmFigures(arm, *numbers) for arm, numbers in found.items()]


def daily_arms(original_id: UUID, period: Period, goal: str | None) -> list[ArmDay]:
    """By day, then as `arms` has them."""
    rows = _of(original_id, goal).filter(period.daily()).values_list("day", "value")
    days: dict[tuple[date, bool, UUID], list[int]] = defaultdict(lambda: [0, 0, 0])
    for day, value, *numbers in rows.annotate(**_SUMS):
        arm = UUID(value[:_ID])
        _add(days[(day, arm != original_id, arm)], value, goal, numbers)
    return [ArmDay(day, arm, *numbers) for (day, _, arm), numbers in sorted(days.items())]


def goals_of(original_id: UUID, period: Period) -> list[Goal]:
    """Of all arms together, the most frequent first."""
    rows = (
        PostCount.objects.filter(
            period.counts(months_to()), post_id=original_id, dimension=Dimension.ARM
        )
        .filter(value__contains=" ")
        .values_list("value")
        .annotate(reached=Sum("conversions"))
    )
    found: dict[str, int] = defaultdict(int)
    for value, reached in rows:
        found[value[_ID + 1 :]] += reached
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [Goal(name, reached) for name, reached in ranked]


def _of(original_id: UUID, goal: str | None) -> QuerySet[PostCount]:
    rows = PostCount.objects.filter(post_id=original_id, dimension=Dimension.ARM)
    rows = rows.exclude(value=OTHER)
    wanted = ~Q(value__contains=" ")
    if goal is not None:
        wanted |= Q(value__endswith=f" {goal}")
    return rows.filter(wanted)


def _add(sums: list[int], value: str, goal: str | None, numbers: list[int]) -> None:
    """With a goal, views and clicks are of the arm's own row, and conversions of the goal's."""
    views, clicks, conversions = numbers
    if len(value) == _ID:
        sums[0] += views
        sums[1] += clicks
    if (len(value) == _ID) == (goal is None):
        sums[2] += conversions
