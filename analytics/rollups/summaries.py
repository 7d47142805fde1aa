"""The summary: totals, over time, and by what they divide into. Reads figures, never events."""

from __future__ import annotations

from datetime import date
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from analytics.models import Dimension, PostCount, RollUp, SiteCount
from analytics.rollups.months import months_to
from analytics.rollups.periods import Period
from analytics.rollups.report_types import Moment, Referrer, Share, Summary, TopPost, Totals
from content.models import Post

TOP: Final = 10
REFERRERS: Final = 20
MONTHLY_BEYOND: Final = 400
"""A longer period is shown by months."""
Counts = QuerySet[SiteCount] | QuerySet[PostCount]
_SUMS: Final = {name: Sum(name) for name in ("views", "clicks", "conversions")}


def summary(period: Period, post_id: UUID | None) -> Summary:
    """Eight statements, or seven of one post."""
    state = RollUp.objects.first()
    ends = date.min if state is None else state.months_to
    counts, chosen = _counts(post_id), period.counts(ends)
    shares = _shares(counts.filter(chosen))
    rows = (
        counts.filter(chosen)
        .filter(dimension=Dimension.REFERRER)
        .values_list("value")
        .annotate(seen=Sum("views"))
        .order_by("-seen", "value")[:REFERRERS]
    )
    return Summary(
        period=period,
        totals=_totals(counts.filter(chosen)),
        previous=_totals(counts.filter(period.before().counts(ends))),
        over_time=_over_time(counts, period, ends),
        is_monthly=period.days > MONTHLY_BEYOND,
        top_posts=_top_posts(chosen) if post_id is None else [],
        referrers=[Referrer(host, seen) for host, seen in rows],
        locales=shares[Dimension.LOCALE],
        devices=shares[Dimension.DEVICE],
        counted_at=None if state is None else state.counted_at,
    )


def over_time(period: Period, post_id: UUID | None) -> list[Moment]:
    """Views and clicks alone: what a summary is drawn beside."""
    return _over_time(_counts(post_id), period, months_to())


def _counts(post_id: UUID | None) -> Counts:
    return SiteCount.objects.all() if post_id is None else PostCount.objects.filter(post_id=post_id)


def _totals(counts: Counts) -> Totals:
    found = counts.filter(dimension=Dimension.TOTAL).aggregate(**_SUMS)
    return Totals(**{name: value or 0 for name, value in found.items()})


def _over_time(counts: Counts, period: Period, ends: date) -> list[Moment]:
    """Every day of the period or, of a long one, every month as far as it is in the period."""
    is_monthly = period.days > MONTHLY_BEYOND
    chosen = period.counts(ends) if is_monthly else period.daily()
    rows = counts.filter(chosen, dimension=Dimension.TOTAL)
    days = period.each_month() if is_monthly else period.each_day()
    sums = {day: [0, 0, 0] for day in days}
    for day, *numbers in rows.values_list("day", "views", "clicks", "conversions"):
        sum_ = sums[day.replace(day=1) if is_monthly else day]
        for place, number in enumerate(numbers):
            sum_[place] += number
    return [Moment(day, *numbers) for day, numbers in sums.items()]


def _shares(counts: Counts) -> dict[str, list[Share]]:
    shown = [Dimension.LOCALE, Dimension.DEVICE]
    rows = (
        counts.filter(dimension__in=shown)
        .values_list("dimension", "value")
        .annotate(seen=Sum("views"), hit=Sum("clicks"))
        .exclude(seen=0, hit=0)  # forms that were taken have no viewport
        .order_by("-seen", "-hit", "value")
    )
    found: dict[str, list[Share]] = {name: [] for name in shown}
    for dimension, value, seen, hit in rows:
        found[dimension].append(Share(value, seen, hit))
    return found


def _top_posts(chosen: Q) -> list[TopPost]:
    """Of posts that stand for themselves: a variation is counted with its original."""
    rows = (
        PostCount.objects.filter(chosen, dimension=Dimension.TOTAL)
        .filter(post_id__in=Post.objects.alive().values("pk"))
        .values("post_id")
        .annotate(seen=Sum("views"), hit=Sum("clicks"), reached=Sum("conversions"))
        .order_by("-seen", "-hit", "post_id")[:TOP]
    )
    found = list(rows)
    posts = Post.objects.in_bulk([row["post_id"] for row in found])
    return [
        _top_post(posts[row["post_id"]], row["seen"], row["hit"], row["reached"])
        for row in found
        if row["post_id"] in posts
    ]


def _top_post(post: Post, seen: int, hit: int, reached: int) -> TopPost:
    path = post.path if post.status == "published" and not post.is_placeholder else ""
    return TopPost(post.pk, post.title, seen, hit, reached, path)
