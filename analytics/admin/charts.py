"""A summary as charts: columns of the period and a line of the previous one, and bars of shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from django.utils.translation import gettext as _

from analytics.rollups.summaries import Moment, Referrer, Share, Summary, TopPost, Totals
from proofroom.core.admin.charts import Upright, line, part, rounded, upright
from proofroom.core.i18n.languages import language_name

_MAX_DAY_COLUMNS: Final = 92
"""In longer periods each column is a week."""
_MAX_NAMED: Final = 5
Step = Literal["day", "week", "month"]
_DEVICES: Final = {
    "mobile": lambda: _("Phones"),
    "tablet": lambda: _("Tablets"),
    "desktop": lambda: _("Desktops"),
    "unknown": lambda: _("Unknown"),
}


@dataclass(frozen=True, slots=True)
class ChartPeriod:
    """A day, a week or a month. `before`: the same place in the previous period, or None."""

    first: date
    last: date
    totals: Totals
    before: Totals | None


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A column of a chart."""

    stretch: ChartPeriod
    value: int
    before: int | None
    drawn: Upright
    is_named: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns, and a line for the previous period. `top` and `half`: the numbers on the axis."""

    name: Literal["views", "clicks"]
    columns: list[ChartColumn]
    line: str
    top: int
    half: int
    most: ChartPeriod | None
    peak: int


@dataclass(frozen=True, slots=True)
class ShareBar:
    """One share of a total. `share`: percent."""

    name: str
    views: int
    clicks: int | None
    width: str
    share: int
    post: TopPost | None = None


def step_of(summary: Summary) -> Step:
    if summary.is_monthly:
        return "month"
    return "week" if summary.period.days > _MAX_DAY_COLUMNS else "day"


def chart_periods(summary: Summary, before: Sequence[Moment]) -> list[ChartPeriod]:
    """Return the columns. `before`: the days or months of the previous period, in order."""
    size = 7 if step_of(summary) == "week" else 1
    now, then = (
        [moments[begin : begin + size] for begin in range(0, len(moments), size)]
        for moments in (summary.over_time, before)
    )
    return [
        ChartPeriod(
            group[0].date,
            group[-1].date,
            _sum(group),
            _sum(then[place]) if place < len(then) else None,
        )
        for place, group in enumerate(now)
    ]


def _sum(moments: Sequence[Moment]) -> Totals:
    return Totals(
        sum(moment.views for moment in moments),
        sum(moment.clicks for moment in moments),
        sum(moment.conversions for moment in moments),
    )


def draw_chart(name: Literal["views", "clicks"], found: Sequence[ChartPeriod]) -> Chart:
    values = [getattr(item.totals, name) for item in found]
    before = [getattr(item.before, name) for item in found if item.before is not None]
    peak = max(values, default=0)
    top = rounded(max([peak, *before]))
    # Rounded up, so that at most that many columns are labelled.
    every = -(-len(found) // _MAX_NAMED)
    columns = [
        ChartColumn(
            stretch=item,
            value=values[place],
            before=None if item.before is None else getattr(item.before, name),
            drawn=upright(place, len(found), values[place], top),
            is_named=place % every == every // 2,
        )
        for place, item in enumerate(found)
    ]
    # With another number of points, the line would not match the columns.
    drawn = line(before, top) if any(before) and len(before) == len(found) else ""
    most = found[values.index(peak)] if peak else None
    return Chart(name, columns, drawn, top, top // 2, most, peak)


def post_bars(posts: Sequence[TopPost], all_views: int) -> list[ShareBar]:
    top = max((post.views for post in posts), default=0)
    return [
        _bar(post.title, post.views, top, all_views, clicks=post.clicks, post=post)
        for post in posts
    ]


def referrer_bars(referrers: Sequence[Referrer], all_views: int) -> list[ShareBar]:
    names = {"": _("Direct or unknown"), "~other": _("Other sites")}
    top = max((item.views for item in referrers), default=0)
    return [_bar(names.get(item.host, item.host), item.views, top, all_views) for item in referrers]


def share_bars(shares: Sequence[Share]) -> list[ShareBar]:
    """Return the bars of languages or devices."""
    top = max((item.views for item in shares), default=0)
    all_views = sum(item.views for item in shares)
    bars = []
    for item in shares:
        if item.value in _DEVICES:
            name = _DEVICES[item.value]()
        else:
            name = language_name(item.value) if item.value else _("Unknown")
        bars.append(_bar(name, item.views, top, all_views, clicks=item.clicks))
    return bars


def _bar(
    name: str, views: int, top: int, all_views: int,
    *, clicks: int | None = None, post: TopPost | None = None,
) -> ShareBar:  # fmt: skip
    share = round(views * 100 / all_views) if all_views else 0
    return ShareBar(name, views, clicks, part(views, top), share, post)


@dataclass(frozen=True, slots=True)
class Total:
    """A total and its change. `percent` is None if the previous total is 0."""

    name: Literal["views", "clicks", "conversions"]
    value: int
    before: int
    percent: int | None
    look: Literal["up", "down", "same", "none"]


def totals(summary: Summary) -> list[Total]:
    names: list[Literal["views", "clicks", "conversions"]] = ["views", "clicks"]
    if summary.totals.conversions or summary.previous.conversions:
        names.append("conversions")
    found = []
    for name in names:
        value, before = getattr(summary.totals, name), getattr(summary.previous, name)
        look: Literal["up", "down", "same", "none"] = "none"
        percent = None
        if before:
            percent = abs(round((value - before) * 100 / before))
            look = "same"
            if value != before:
                look = "up" if value > before else "down"
        found.append(Total(name, value, before, percent, look))
    return found
