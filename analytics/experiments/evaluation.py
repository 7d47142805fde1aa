"""A test of variations with what may be said of it: the figures of its arms, verdicts, and reasons for doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.utils.translation import gettext as _

from analytics.experiments import timeline
from analytics.experiments.confidence import Tally
from analytics.experiments.timeline import Course
from analytics.experiments.verdicts import USUAL_EFFECT, Judged, is_odd_split, judge
from analytics.rollups import reports
from analytics.rollups.periods import Period, read_period
from analytics.rollups.report_types import ArmFigures, Goal
from content.models import Post
from content.variations.assignment import ORIGINAL
from proofroom.core.errors import NotFound

GOAL_PATTERN: Final = r"^(form:)?[A-Za-z0-9][A-Za-z0-9_-]*$"
"""The goal of a marked element, or a form that was sent."""
_ALL: Final = 100
Doubt = Literal[
    "odd-split", "weights-changed", "arms-changed", "content-changed", "part-of-test", "many-goals"
]


@dataclass(frozen=True, slots=True)
class EvaluatedArm:
    """The original, called A, or a variation. `weight` is the percent of the visitors that it is given now."""

    post_id: UUID
    name: str
    title: str
    weight: int
    is_running: bool
    clicks: int
    conversions: int
    judged: Judged

    @property
    def is_original(self) -> bool:
        return self.judged.verdict is None


@dataclass(frozen=True, slots=True)
class Trial:
    """A test. `goal` is None where nothing was reached yet; `doubts` say why its figures may mislead."""

    original: Post
    course: Course
    period: Period
    goal: str | None
    goals: list[Goal]
    arms: list[EvaluatedArm]
    doubts: list[Doubt]
    effect: int

    @property
    def is_running(self) -> bool:
        return any(arm.is_running for arm in self.arms)


def trial(
    *,
    post_id: UUID,
    params: Mapping[str, str],
    goal: str | None = None,
    effect: int = USUAL_EFFECT,
) -> Trial:
    """The test of a post, or of the one that it is a variation of. Without days, those of its last test.

    Raises `NotFound`, and `RuleViolation` on `from` or `to`. A fixed number of statements.
    """
    original = _original(post_id)
    variations = list(Post.objects.filter(variation_of=original).order_by("variation"))
    course = timeline.course_of(variations)
    has_days = "from" in params or "to" in params
    period = read_period(params) if has_days else course.period(original.pk)
    goals = reports.goals_of(original.pk, period)
    if goal is None and goals:
        goal = goals[0].name
    figures = {item.post_id: item for item in reports.arms(original.pk, period, goal or "")}
    posts = [row for row in variations if _takes_part(row, figures)]
    arms = _arms(original, posts, figures, effect)
    doubts = _doubts(course, period, arms, figures)
    return Trial(original, course, period, goal, goals, arms, doubts, effect)


def _original(post_id: UUID) -> Post:
    post = Post.objects.kept().select_related("variation_of").filter(pk=post_id).first()
    found = post.variation_of or post if post else None
    if found is None or found.deleted_at is not None:
        raise NotFound(_("There is no such post."))
    return found


def _takes_part(row: Post, figures: Mapping[UUID, ArmFigures]) -> bool:
    return row.variation_running or (row.pk in figures and figures[row.pk].views > 0)


def _arms(
    original: Post, posts: Sequence[Post], figures: Mapping[UUID, ArmFigures], effect: int
) -> list[EvaluatedArm]:
    rows = [original, *posts]
    weights = _weights(posts)
    found = [figures.get(row.pk, ArmFigures(row.pk, 0, 0, 0)) for row in rows]
    tallies = [Tally(item.views, min(item.conversions, item.views)) for item in found]
    return [
        EvaluatedArm(
            post_id=row.pk,
            name=row.variation or ORIGINAL,
            title=row.title,
            weight=weight,
            is_running=row.variation_running or (row is original and _runs(posts)),
            clicks=item.clicks,
            conversions=item.conversions,
            judged=judged,
        )
        for row, weight, item, judged in zip(
            rows, weights, found, judge(tallies, weights, effect), strict=True
        )
    ]


def _runs(posts: Sequence[Post]) -> bool:
    return any(row.variation_running for row in posts)


def _weights(posts: Sequence[Post]) -> list[int]:
    """Of the original and of each: what they are given, or were given when the test ended."""
    runs = _runs(posts)
    given = [
        (row.variation_weight or 0) if row.variation_running or not runs else 0 for row in posts
    ]
    return [max(0, _ALL - sum(given)), *given]


def _doubts(
    course: Course, period: Period, arms: Sequence[EvaluatedArm], figures: Mapping[UUID, ArmFigures]
) -> list[Doubt]:
    doubts: list[Doubt] = []
    if timeline.within(course.weighed, period):
        doubts.append("weights-changed")
    if timeline.within(course.joined, period):
        doubts.append("arms-changed")
    if not doubts and _is_odd(arms):
        doubts.append("odd-split")
    if timeline.content_changed(course, [arm.post_id for arm in arms], period):
        doubts.append("content-changed")
    if course.began and period.first > timeline.day_of(course.began):
        doubts.append("part-of-test")
    if any(item.conversions > item.views for item in figures.values()):
        doubts.append("many-goals")
    return doubts


def _is_odd(arms: Sequence[EvaluatedArm]) -> bool:
    """Judged while the test runs: of one that ended nobody knows who took part at which weight."""
    weights = [arm.weight for arm in arms]
    is_known = any(arm.is_running for arm in arms) and sum(weights) == _ALL
    return is_known and is_odd_split([arm.judged.tally for arm in arms], weights)
