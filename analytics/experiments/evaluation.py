"""Evaluation of an experiment: counts of its arms, verdicts, and doubts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from django.db.models import Min, Q, Sum
from django.utils.translation import gettext as _

from analytics.experiments.confidence import Tally
from analytics.experiments.verdicts import USUAL_EFFECT, Judged, is_odd_split, judge
from analytics.models import Dimension, PostCount
from analytics.periods import Period, day_of, read_period, today
from analytics.rollups.aggregate import catch_up, months_to
from analytics.rollups.merge_rare import OTHER
from content.models import Post, Revision
from content.store.arms import ORIGINAL
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import NotFound
from proofroom.core.models import Event

_ID_LENGTH: Final = 36
"""Length of an arm's id in `value`; a goal follows after a space."""


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """Counts of one arm of a test, the original or a variation, while the test ran."""

    post_id: UUID
    views: int = 0
    clicks: int = 0
    conversions: int = 0


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal and how often it was reached."""

    name: str
    conversions: int


def count_arms(original_id: UUID, period: Period, goal: str | None = None) -> list[ArmFigures]:
    """Return the counts of arms, the original first. Call `catch_up` before.

    Without a goal, conversions of all goals are counted.
    """
    # Rows without a goal have only the arm's id in `value`.
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
        # With a goal, views and clicks come from the arm's own row, conversions from the goal's.
        sums, is_own_row = found[UUID(value[:_ID_LENGTH])], len(value) == _ID_LENGTH
        if is_own_row:
            sums[0] += views
            sums[1] += clicks
        if is_own_row == (goal is None):
            sums[2] += conversions
    return [ArmFigures(arm, *numbers) for arm, numbers in found.items()]


def count_goals(original_id: UUID, period: Period) -> list[Goal]:
    """Return the goals reached in all arms, most frequent first. Call `catch_up` before."""
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


_STARTED: Final = "post.variation.started"
_STOPPED: Final = "post.variation.stopped"
_WEIGHED: Final = "post.variation.changed"
_MAX_EVENTS: Final = 1_000
_SETTLING: Final = timedelta(hours=1)
"""Variations are started one by one; changes within this time belong to the start."""
_USUAL_DAYS: Final = 30
_NOT_A_CHANGE: Final = ("created", "before", "promoted")
GOAL_PATTERN: Final = r"^(form:)?[A-Za-z0-9][A-Za-z0-9_-]*$"
"""Pattern of a goal of a marked element, or of a submitted form."""
Doubt = Literal[
    "odd-split", "weights-changed", "arms-changed", "content-changed", "part-of-test", "many-goals"
]


@dataclass(frozen=True, slots=True)
class Course:
    """The last test of a post. `ended` is None while it runs, `began` if its start is unknown."""

    began: datetime | None = None
    ended: datetime | None = None
    weighed: list[datetime] = field(default_factory=list)
    """Times at which weights were changed after the start."""
    joined: list[datetime] = field(default_factory=list)
    """Times at which a variation was started or stopped while others were running."""

    def period(self, original_id: UUID) -> Period:
        """Return its days; if its start is unknown, from the first day with counts."""
        last = day_of(self.ended) if self.ended else today()
        first: date | None
        if self.began:
            first = day_of(self.began)
        else:
            rows = PostCount.objects.filter(post_id=original_id, dimension=Dimension.ARM)
            first = rows.filter(grain="day").aggregate(first=Min("day"))["first"]
        return Period(min(first or last - timedelta(days=_USUAL_DAYS - 1), last), last)


def course_of(variations: Sequence[Post]) -> Course:
    """Read the last test from the activity log. One statement."""
    rows = Event.objects.filter(
        name__in=[_STARTED, _STOPPED, _WEIGHED], post_id__in=[row.pk for row in variations]
    ).order_by("-pk")
    running: set[UUID | None] = set()
    course = Course()
    for event in reversed(rows[:_MAX_EVENTS]):
        at = event.created_at
        if not running:
            # A start after the end begins a new test.
            if event.name == _STARTED:
                running.add(event.post_id)
                course = Course(began=at)
            continue
        if event.name == _STARTED:
            running.add(event.post_id)
        elif event.name == _STOPPED:
            running.discard(event.post_id)
            if not running:
                # Variations stopped together are the end of the test, not a change of it.
                joined = [moment for moment in course.joined if at - moment > _SETTLING]
                course = Course(course.began, at, course.weighed, joined)
                continue
        elif event.post_id not in running:
            continue
        if course.began is not None and at - course.began > _SETTLING:
            (course.weighed if event.name == _WEIGHED else course.joined).append(at)
    return course


def is_content_changed(course: Course, arms: Sequence[UUID], period: Period) -> bool:
    """Return True if live content of an arm was changed on these days of the test. One statement."""
    begin = datetime.combine(period.first, datetime.min.time(), UTC)
    end = datetime.combine(period.last, datetime.max.time(), UTC)
    if course.began is not None:
        begin = max(begin, course.began)
    if course.ended is not None:
        end = min(end, course.ended)
    rows = Revision.objects.filter(post_id__in=arms, created_at__gt=begin, created_at__lte=end)
    return rows.exclude(reason__in=_NOT_A_CHANGE).exists()


@dataclass(frozen=True, slots=True)
class EvaluatedArm:
    """The original, called A, or a variation. `weight`: its current percent of the visitors."""

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
    """A test. `goal` is None if no goal was reached; `doubts`: reasons why its figures may mislead."""

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


def evaluate_trial(
    *,
    post_id: UUID,
    who: Scoped,
    params: Mapping[str, str],
    goal: str | None = None,
    effect: int = USUAL_EFFECT,
) -> Trial:
    """Return the test of a post, or of a variation's original. Default period: its last test.

    Raises `NotFound` for a post that does not exist or that `who` may not see, and `RuleViolation`
    on `from` or `to`. A fixed number of statements.
    """
    rows = Post.objects.kept().select_related("variation_of").filter(pk=post_id)
    post = visible_to(rows, who).first()
    original = post.variation_of or post if post else None
    if original is None or original.deleted_at is not None:
        raise NotFound(_("Post not found."))
    variations = list(Post.objects.filter(variation_of=original).order_by("variation"))
    course = course_of(variations)
    has_days = "from" in params or "to" in params
    period = read_period(params) if has_days else course.period(original.pk)
    catch_up()
    return _evaluate(original, variations, course, period, goal, effect)


def evaluate_trials(originals: Sequence[Post]) -> list[Trial]:
    """Return the last tests of these posts. At most seven statements for each, and two for all."""
    variations: dict[UUID | None, list[Post]] = defaultdict(list)
    for row in Post.objects.filter(variation_of__in=originals).order_by("variation"):
        variations[row.variation_of_id].append(row)
    catch_up()
    trials = []
    for original in originals:
        own = variations[original.pk]
        course = course_of(own)
        period = course.period(original.pk)
        trials.append(_evaluate(original, own, course, period, None, USUAL_EFFECT))
    return trials


def _evaluate(
    original: Post,
    variations: Sequence[Post],
    course: Course,
    period: Period,
    goal: str | None,
    effect: int,
) -> Trial:
    goals = count_goals(original.pk, period)
    if goal is None and goals:
        goal = goals[0].name
    figures = {item.post_id: item for item in count_arms(original.pk, period, goal or "")}
    posts = [
        row
        for row in variations
        if row.variation_running or (row.pk in figures and figures[row.pk].views > 0)
    ]
    arms = _evaluate_arms(original, posts, figures, effect)
    doubts = _find_doubts(course, period, arms, figures)
    return Trial(original, course, period, goal, goals, arms, doubts, effect)


def _evaluate_arms(
    original: Post, posts: Sequence[Post], figures: Mapping[UUID, ArmFigures], effect: int
) -> list[EvaluatedArm]:
    rows = [original, *posts]
    # The current weights, or the last ones if the test has ended.
    is_running = any(row.variation_running for row in posts)
    given = [
        (row.variation_weight or 0) if row.variation_running or not is_running else 0
        for row in posts
    ]
    # The original gets the rest.
    weights = [max(0, 100 - sum(given)), *given]
    found = [figures.get(row.pk, ArmFigures(row.pk)) for row in rows]
    # A form can be sent several times from one view, so conversions are capped.
    tallies = [Tally(item.views, min(item.conversions, item.views)) for item in found]
    return [
        EvaluatedArm(
            post_id=row.pk,
            name=row.variation or ORIGINAL,
            title=row.title,
            weight=weight,
            is_running=row.variation_running or (row is original and is_running),
            clicks=item.clicks,
            conversions=item.conversions,
            judged=judged,
        )
        for row, weight, item, judged in zip(
            rows, weights, found, judge(tallies, weights, effect), strict=True
        )
    ]


def _find_doubts(
    course: Course, period: Period, arms: Sequence[EvaluatedArm], figures: Mapping[UUID, ArmFigures]
) -> list[Doubt]:
    doubts: list[Doubt] = []
    if any(period.first <= day_of(moment) <= period.last for moment in course.weighed):
        doubts.append("weights-changed")
    if any(period.first <= day_of(moment) <= period.last for moment in course.joined):
        doubts.append("arms-changed")
    # Only while the test runs, because the arms and weights of an ended test are unknown.
    weights = [arm.weight for arm in arms]
    is_known = any(arm.is_running for arm in arms) and sum(weights) == 100
    if not doubts and is_known and is_odd_split([arm.judged.tally for arm in arms], weights):
        doubts.append("odd-split")
    if is_content_changed(course, [arm.post_id for arm in arms], period):
        doubts.append("content-changed")
    if course.began and period.first > day_of(course.began):
        doubts.append("part-of-test")
    if any(item.conversions > item.views for item in figures.values()):
        doubts.append("many-goals")
    return doubts
