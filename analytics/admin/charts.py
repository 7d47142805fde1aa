"""A summary as charts: columns for days, weeks or months beside those before, and bars for what it divides into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from analytics.rollups.report_types import Moment, Referrer, Share, Summary, TopPost, Totals
from proofroom.core.admin.charts import Upright, line, part, rounded, upright

_DAYS_DRAWN: Final = 92
"""Of a longer period each column is a week."""
_NAMED_MOST: Final = 5
Step = Literal["day", "week", "month"]
_DEVICES: Final = {
    "mobile": lambda: _("Phones"),
    "tablet": lambda: _("Tablets"),
    "desktop": lambda: _("Desktops"),
    "unknown": lambda: _("Not known"),
}


@dataclass(frozen=True, slots=True)
class ChartPeriod:
    """A day, a week or a month; `before` is that of the same place in the period before, None where it has none."""

    first: date
    last: date
    totals: Totals
    before: Totals | None


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A stretch as one chart shows it."""

    stretch: ChartPeriod
    value: int
    before: int | None
    drawn: Upright
    is_named: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns, and a line for the period before. `top` and `half` are where the axis has its numbers."""

    name: Literal["views", "clicks"]
    columns: list[ChartColumn]
    line: str
    top: int
    half: int
    most: ChartPeriod | None
    peak: int


@dataclass(frozen=True, slots=True)
class ShareBar:
    """One of what a figure divides into. `share` is of all, in percent."""

    name: str
    views: int
    clicks: int | None
    width: str
    share: int
    post: TopPost | None = None


def step_of(summary: Summary) -> Step:
    if summary.is_monthly:
        return "month"
    return "week" if summary.period.days > _DAYS_DRAWN else "day"


def chart_periods(summary: Summary, before: Sequence[Moment]) -> list[ChartPeriod]:
    """Return what the columns stand for. `before` has the days or months of the period before, in order."""
    size = 7 if step_of(summary) == "week" else 1
    now = _joined(summary.over_time, size)
    then = _joined(before, size)
    return [
        ChartPeriod(
            group[0].date,
            group[-1].date,
            _sum(group),
            _sum(then[place]) if place < len(then) else None,
        )
        for place, group in enumerate(now)
    ]


def _joined(moments: Sequence[Moment], size: int) -> list[Sequence[Moment]]:
    return [moments[begin : begin + size] for begin in range(0, len(moments), size)]


def _sum(moments: Sequence[Moment]) -> Totals:
    return Totals(
        sum(moment.views for moment in moments),
        sum(moment.clicks for moment in moments),
        sum(moment.conversions for moment in moments),
    )


def draw_chart(name: Literal["views", "clicks"], found: Sequence[ChartPeriod]) -> Chart:
    values = [_value(item.totals, name) for item in found]
    before = [_value(item.before, name) for item in found if item.before is not None]
    peak = max(values, default=0)
    top = rounded(max([peak, *before]))
    every = -(-len(found) // _NAMED_MOST)
    columns = [
        ChartColumn(
            stretch=item,
            value=values[place],
            before=None if item.before is None else _value(item.before, name),
            drawn=upright(place, len(found), values[place], top),
            is_named=place % every == every // 2,
        )
        for place, item in enumerate(found)
    ]
    # A line over fewer places than there are columns would stand beside them.
    drawn = line(before, top) if any(before) and len(before) == len(found) else ""
    most = found[values.index(peak)] if peak else None
    return Chart(name, columns, drawn, top, top // 2, most, peak)


def _value(totals: Totals, name: Literal["views", "clicks"]) -> int:
    return totals.views if name == "views" else totals.clicks


def post_bars(posts: Sequence[TopPost], all_views: int) -> list[ShareBar]:
    top = max((post.views for post in posts), default=0)
    return [
        ShareBar(
            post.title,
            post.views,
            post.clicks,
            part(post.views, top),
            _share(post.views, all_views),
            post,
        )
        for post in posts
    ]


def referrer_bars(referrers: Sequence[Referrer], all_views: int) -> list[ShareBar]:
    names = {"": _("None: typed in, a bookmark, or not told"), "~other": _("Other sites")}
    top = max((item.views for item in referrers), default=0)
    return [
        ShareBar(
            names.get(item.host, item.host),
            item.views,
            None,
            part(item.views, top),
            _share(item.views, all_views),
        )
        for item in referrers
    ]


def share_bars(shares: Sequence[Share]) -> list[ShareBar]:
    """Of languages or devices."""
    top = max((item.views for item in shares), default=0)
    all_views = sum(item.views for item in shares)
    return [
        ShareBar(
            _name_of(item.value),
            item.views,
            item.clicks,
            part(item.views, top),
            _share(item.views, all_views),
        )
        for item in shares
    ]


def _name_of(value: str) -> str:
    if value in _DEVICES:
        return _DEVICES[value]()
    try:
        return f"{get_language_info(value)['name_translated']} ({value})"
    except KeyError:
        return value or _("Not known")


def _share(views: int, all_views: int) -> int:
    return round(views * 100 / all_views) if all_views else 0


@dataclass(frozen=True, slots=True)
class Total:
    """A sum with what became of it. `percent` is None where there was nothing before."""

    name: Literal["views", "clicks", "conversions"]
    value: int
    before: int
    percent: int | None
    look: Literal["up", "down", "same", "none"]


def totals(summary: Summary) -> list[Total]:
    now, before = summary.totals, summary.previous
    found = [
        _total("views", now.views, before.views),
        _total("clicks", now.clicks, before.clicks),
    ]
    if now.conversions or before.conversions:
        found.append(_total("conversions", now.conversions, before.conversions))
    return found


def _total(name: Literal["views", "clicks", "conversions"], value: int, before: int) -> Total:
    if not before:
        return Total(name, value, before, None, "none")
    percent = round((value - before) * 100 / before)
    look: Literal["up", "down", "same"] = (
        "same" if value == before else "up" if value > before else "down"
    )
    return Total(name, value, before, abs(percent), look)
