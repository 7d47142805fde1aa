"""Counts of the arms of a test: what the original and each variation was given."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Q, Sum

from analytics.models import Dimension, PostCount
from analytics.rollups.aggregate import months_to
from analytics.rollups.merge_rare import OTHER
from analytics.rollups.periods import Period

_ID_LENGTH: Final = 36
"""Characters of the id of an arm; a goal follows after a space."""


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm of a test: the original or a variation, counted while the test ran."""

    post_id: UUID
    views: int = 0
    clicks: int = 0
    conversions: int = 0


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal by how often it was reached."""

    name: str
    conversions: int


def count_arms(original_id: UUID, period: Period, goal: str | None = None) -> list[ArmFigures]:
    """Return the arms of which anything is counted, the original first. Call `catch_up` before.

    Without a goal, conversions are those of all goals.
    """
    wanted = ~Q(value__contains=" ")
    if goal is not None:
        wanted |= Q(value__endswith=f" {goal}")
    rows = (
        PostCount.objects.filter(post_id=original_id, dimension=Dimension.ARM)
        .exclude(value=OTHER)
        .filter(wanted)
        .filter(period.counts(months_to()))
        .values_list("value")
        .annotate(seen=Sum("views"), hit=Sum("clicks"), reached=Sum("conversions"))
    )
    found: dict[UUID, list[int]] = defaultdict(lambda: [0, 0, 0])
    found[original_id] = [0, 0, 0]
    for value, views, clicks, conversions in rows.order_by("value"):
        # With a goal, views and clicks are of the arm's own row, and conversions of the goal's.
        sums, is_own_row = found[UUID(value[:_ID_LENGTH])], len(value) == _ID_LENGTH
        if is_own_row:
            sums[0] += views
            sums[1] += clicks
        if is_own_row == (goal is None):
            sums[2] += conversions
    return [ArmFigures(arm, *numbers) for arm, numbers in found.items()]


def count_goals(original_id: UUID, period: Period) -> list[Goal]:
    """Return what visitors of all arms reached, the most frequent first. Call `catch_up` before."""
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
        found[value[_ID_LENGTH + 1 :]] += reached
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [Goal(name, reached) for name, reached in ranked]
