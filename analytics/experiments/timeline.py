"""The course of a test of variations: when it began and ended, and what was changed meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Min
from django.utils import timezone

from analytics.models import Dimension, PostCount
from analytics.rollups.periods import Period
from content.models import Post, Revision
from proofroom.core.models import Event

_STARTED: Final = "post.variation.started"
_STOPPED: Final = "post.variation.stopped"
_WEIGHED: Final = "post.variation.changed"
_EVENTS_MOST: Final = 1_000
_SETTLING: Final = timedelta(hours=1)
"""Variations are started one after the other; what happens so soon belongs to the beginning."""
_USUAL_DAYS: Final = 30
_NOT_A_CHANGE: Final = ("created", "before", "promoted")


@dataclass(frozen=True, slots=True)
class Course:
    """The last test of a post. `ended` is None while it goes on, `began` where nothing is known of it."""

    began: datetime | None = None
    ended: datetime | None = None
    weighed: list[datetime] = field(default_factory=list)
    """When shares of the visitors were changed, after the beginning."""
    joined: list[datetime] = field(default_factory=list)
    """When a variation was started or stopped while others ran on."""

    def period(self, original_id: UUID) -> Period:
        """Its days; those that anything is counted of where it is not known when it began."""
        first = day_of(self.began) if self.began else _first_counted(original_id)
        last = day_of(self.ended) if self.ended else day_of(timezone.now())
        return Period(min(first or last - timedelta(days=_USUAL_DAYS - 1), last), last)


def day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def course_of(variations: Sequence[Post]) -> Course:
    """Read from the activity log. One statement."""
    rows = Event.objects.filter(
        name__in=[_STARTED, _STOPPED, _WEIGHED], post_id__in=[row.pk for row in variations]
    ).order_by("-pk")
    running: set[UUID | None] = set()
    course = Course()
    for event in reversed(rows[:_EVENTS_MOST]):
        course = _after(course, event, running)
    return course


def _after(course: Course, event: Event, running: set[UUID | None]) -> Course:
    at = event.created_at
    if event.name == _STARTED and not running:
        running.add(event.post_id)
        return Course(began=at)
    if course.began is None or not running:
        return course
    if event.name == _STARTED:
        running.add(event.post_id)
    elif event.name == _STOPPED:
        running.discard(event.post_id)
        if not running:
            # Those that are stopped together are the end, and no change of the test.
            kept = [moment for moment in course.joined if at - moment > _SETTLING]
            return Course(course.began, at, course.weighed, kept)
    elif event.post_id not in running:
        return course
    if at - course.began > _SETTLING:
        (course.weighed if event.name == _WEIGHED else course.joined).append(at)
    return course


def content_changed(course: Course, arms: Sequence[UUID], period: Period) -> list[datetime]:
    """When live content of an arm was changed while the test ran, in these days. One statement."""
    begin = datetime.combine(period.first, datetime.min.time(), UTC)
    end = datetime.combine(period.last, datetime.max.time(), UTC)
    if course.began is not None:
        begin = max(begin, course.began)
    if course.ended is not None:
        end = min(end, course.ended)
    rows = Revision.objects.filter(post_id__in=arms, created_at__gt=begin, created_at__lte=end)
    return list(
        rows.exclude(reason__in=_NOT_A_CHANGE)
        .order_by("created_at")
        .values_list("created_at", flat=True)[:_EVENTS_MOST]
    )


def within(moments: Sequence[datetime], period: Period) -> list[datetime]:
    return [moment for moment in moments if period.first <= day_of(moment) <= period.last]


def _first_counted(original_id: UUID) -> date | None:
    rows = PostCount.objects.filter(post_id=original_id, dimension=Dimension.ARM, grain="day")
    first: date | None = rows.aggregate(first=Min("day"))["first"]
    return first
