"""Summaries: totals, over time, and by dimension. They read figures, never events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from analytics.models import Dimension, PostCount, RollUp, SiteCount
from analytics.periods import Period
from analytics.rollups.aggregate import catch_up, months_to
from content.models import Post
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped, reading_scopes

MAX_TOP_POSTS: Final = 10
MAX_REFERRERS: Final = 20
MONTHLY_BEYOND: Final = 400
"""Number of days beyond which a period is shown by month."""
Counts = QuerySet[SiteCount] | QuerySet[PostCount]
_SUMS: Final = {name: Sum(name) for name in ("views", "clicks", "conversions")}


@dataclass(frozen=True, slots=True)
class Totals:
    """Views, clicks and reached goals."""

    views: int = 0
    clicks: int = 0
    conversions: int = 0


@dataclass(frozen=True, slots=True)
class Moment:
    """One day of the period, or one month if it has more than 400 days (`date` is its first day)."""

    date: date
    views: int
    clicks: int
    conversions: int


@dataclass(frozen=True, slots=True)
class TopPost:
    """A frequently viewed post. It may be a draft by now."""

    post_id: UUID
    title: str
    views: int
    clicks: int
    conversions: int
    path: str
    """Path on the site; empty if the post is not published."""


@dataclass(frozen=True, slots=True)
class Referrer:
    """A referring host; empty for none, `~other` for the rare ones."""

    host: str
    views: int


@dataclass(frozen=True, slots=True)
class Share:
    """A language, or a class of devices."""

    value: str
    views: int
    clicks: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a period, of the site or of one post, with the previous totals."""

    period: Period
    totals: Totals
    previous: Totals
    over_time: list[Moment]
    is_monthly: bool
    top_posts: list[TopPost]
    """Empty in the summary of one post."""
    referrers: list[Referrer]
    locales: list[Share]
    devices: list[Share]
    counted_at: datetime | None
    """Time up to which all events are counted; None before the first count."""


def summarize(period: Period, post_id: UUID | None, who: Scoped) -> Summary:
    """Return the summary of the site or of one post, after counting a limited number of new events.

    For users with a limited content scope, the site means the posts in it. Eight statements after
    the count, or seven for one post.
    """
    catch_up()
    state = RollUp.objects.first()
    ends = date.min if state is None else state.months_to
    counts, chosen = _counts(post_id, who), period.counts(ends)
    within = counts.filter(chosen)
    by_share = (
        within.filter(dimension__in=[Dimension.LOCALE, Dimension.DEVICE])
        .values_list("dimension", "value")
        .annotate(seen=Sum("views"), hit=Sum("clicks"))
        .exclude(seen=0, hit=0)  # submitted forms have no viewport
        .order_by("-seen", "-hit", "value")
    )
    shares: dict[str, list[Share]] = {Dimension.LOCALE: [], Dimension.DEVICE: []}
    for dimension, value, seen, hit in by_share:
        shares[dimension].append(Share(value, seen, hit))
    by_referrer = (
        within.filter(dimension=Dimension.REFERRER)
        .values_list("value")
        .annotate(seen=Sum("views"))
        .order_by("-seen", "value")[:MAX_REFERRERS]
    )
    return Summary(
        period=period,
        totals=_totals(within),
        previous=_totals(counts.filter(period.before().counts(ends))),
        over_time=_over_time(counts, period, ends),
        is_monthly=period.days > MONTHLY_BEYOND,
        top_posts=_top_posts(chosen, who) if post_id is None else [],
        referrers=[Referrer(host, seen) for host, seen in by_referrer],
        locales=shares[Dimension.LOCALE],
        devices=shares[Dimension.DEVICE],
        counted_at=None if state is None else state.counted_at,
    )


def over_time(period: Period, post_id: UUID | None, who: Scoped) -> list[Moment]:
    """Return the counts over time, to compare with another summary."""
    return _over_time(_counts(post_id, who), period, months_to())


def _counts(post_id: UUID | None, who: Scoped) -> Counts:
    if post_id is not None:
        return PostCount.objects.filter(post_id=post_id)
    if not reading_scopes(who):
        return SiteCount.objects.all()
    # Counts of a variation are included in its original's.
    posts = visible_to(Post.objects.alive(), who)
    return PostCount.objects.filter(post_id__in=posts.values("pk"))


def _totals(counts: Counts) -> Totals:
    found = counts.filter(dimension=Dimension.TOTAL).aggregate(**_SUMS)
    return Totals(**{name: value or 0 for name, value in found.items()})


def _over_time(counts: Counts, period: Period, ends: date) -> list[Moment]:
    """Return every day of the period, or for a long one every month, limited to the period."""
    is_monthly = period.days > MONTHLY_BEYOND
    chosen = period.counts(ends) if is_monthly else period.daily()
    rows = counts.filter(chosen, dimension=Dimension.TOTAL)
    days = period.each_month() if is_monthly else period.each_day()
    sums = {day: [0, 0, 0] for day in days}
    # With several posts, a day has several rows.
    added = rows.values_list("day").annotate(
        **{f"all_{name}": sum_ for name, sum_ in _SUMS.items()}
    )
    for day, *numbers in added.order_by("day"):
        sum_ = sums[day.replace(day=1) if is_monthly else day]
        for place, number in enumerate(numbers):
            sum_[place] += number
    return [Moment(day, *numbers) for day, numbers in sums.items()]


def _top_posts(chosen: Q, who: Scoped) -> list[TopPost]:
    """Return the most viewed posts. A variation is counted with its original."""
    rows = (
        PostCount.objects.filter(chosen, dimension=Dimension.TOTAL)
        .filter(post_id__in=visible_to(Post.objects.alive(), who).values("pk"))
        .values("post_id")
        .annotate(seen=Sum("views"), hit=Sum("clicks"), reached=Sum("conversions"))
        .order_by("-seen", "-hit", "post_id")[:MAX_TOP_POSTS]
    )
    found = list(rows)
    posts = Post.objects.in_bulk([row["post_id"] for row in found])
    top = []
    for row in found:
        post = posts.get(row["post_id"])
        if post is not None:
            is_public = post.status == "published" and not post.is_placeholder
            numbers = (row["seen"], row["hit"], row["reached"])
            top.append(TopPost(post.pk, post.title, *numbers, path=post.path if is_public else ""))
    return top
