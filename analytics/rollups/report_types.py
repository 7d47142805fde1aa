"""Types of reports, and of the questions that heatmaps answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from analytics.rollups.periods import Period


@dataclass(frozen=True, slots=True)
class Totals:
    """Views, clicks and reached goals."""

    views: int = 0
    clicks: int = 0
    conversions: int = 0


@dataclass(frozen=True, slots=True)
class Moment:
    """One day of the period, or one month where it has more than 400 days (`date` is then its first)."""

    date: date
    views: int
    clicks: int
    conversions: int


@dataclass(frozen=True, slots=True)
class TopPost:
    """A post that was looked at often. It may be a draft by now."""

    post_id: UUID
    title: str
    views: int
    clicks: int
    conversions: int
    path: str
    """Where it stands on the site; empty where it is not published."""


@dataclass(frozen=True, slots=True)
class Referrer:
    """A site that visitors came from; an empty host stands for none, and `~other` for the many rare ones."""

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
    """The figures of a period, on the whole site or on one post, beside the period before."""

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
    """Up to when everything is counted; None where nothing was yet."""


@dataclass(frozen=True, slots=True)
class HeatAsked:
    """The events of a heatmap. `versions` are the first version and the one past the last, None is open."""

    post_id: UUID
    period: Period
    event_type: str = "click"
    device: str | None = None
    versions: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Spot:
    """The mean place of the events of one cell.

    Of a page, `x` is a part of its width and `y` pixels of a page 1,000 pixels wide. Of a module, both are parts of
    its box.
    """

    x: float
    y: float
    count: int


@dataclass(frozen=True, slots=True)
class Heat:
    """The spots that were hit most. `max` is the count of the first, `total` that of all, shown or not."""

    spots: list[Spot]
    max: int
    total: int
    grid: int = 10


@dataclass(frozen=True, slots=True)
class ModuleClicks:
    """A module by how often it was clicked. `clicks` counts those without a place too, `spots` those with one."""

    post_module_id: str
    label: str
    type: str
    """Empty where the module is gone."""
    is_gone: bool
    clicks: int
    spots: list[Spot]


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm of a test: the original or a variation, counted while the test ran."""

    post_id: UUID
    views: int
    clicks: int
    conversions: int


@dataclass(frozen=True, slots=True)
class ArmDay:
    """One arm on one day."""

    date: date
    post_id: UUID
    views: int
    clicks: int
    conversions: int


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal by how often it was reached."""

    name: str
    conversions: int
