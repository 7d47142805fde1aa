"""What the page of the calendar shows: a month with the rest of its weeks, or a week."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final, Literal

from django.utils import timezone
from django.utils.formats import date_format, get_format

WEEK: Final = timedelta(days=7)
_FIRST_YEAR: Final = 1971
_LAST_YEAR: Final = 9998


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `begin` until before `end`. `day`: the first of the month, or a day of the week."""

    view: Literal["month", "week"]
    day: date

    @property
    def begin(self) -> date:
        return _week_begin(self.day)

    @property
    def end(self) -> date:
        if self.view == "week":
            return self.begin + WEEK
        following = _month_after(self.day)
        begin = _week_begin(following)
        return begin if begin == following else begin + WEEK

    @property
    def days(self) -> list[date]:
        return [self.begin + timedelta(days=n) for n in range((self.end - self.begin).days)]

    @property
    def title(self) -> str:
        if self.view == "month":
            return date_format(self.day, "YEAR_MONTH_FORMAT")
        first, last = self.begin, self.end - timedelta(days=1)
        return f"{date_format(first, 'DATE_FORMAT')} – {date_format(last, 'DATE_FORMAT')}"

    @property
    def query(self) -> dict[str, str]:
        """The parameter of the page that asks for it."""
        return {self.view: f"{self.day:%Y-%m}" if self.view == "month" else f"{self.begin}"}

    @property
    def earlier(self) -> Period:
        if self.view == "week":
            return Period("week", self.day - WEEK)
        return Period("month", (self.day - timedelta(days=1)).replace(day=1))

    @property
    def following(self) -> Period:
        return Period(self.view, self.day + WEEK if self.view == "week" else _month_after(self.day))

    def as_week(self) -> Period:
        """Return the week of today if it is in this month, else the first week of the month."""
        today = timezone.localdate()
        is_current = self.view == "month" and today.replace(day=1) == self.day
        return Period("week", today if is_current else self.day)

    def as_month(self) -> Period:
        return Period("month", self.day.replace(day=1))


def period_in(query: Mapping[str, str]) -> Period:
    """Return what `week=2026-12-07` or `month=2026-12` asks for, else the current month."""
    week, today = _date_in(query.get("week", "")), timezone.localdate()
    if week is not None:
        return Period("week", week)
    # A week without a valid day is the current one.
    if "week" in query:
        return Period("week", today)
    month = _date_in(f"{query.get('month', '')}-01")
    return Period("month", month or today.replace(day=1))


def midnight(day: date) -> datetime:
    """Return the beginning of a day in the reader's zone."""
    return timezone.make_aware(datetime.combine(day, time()))


def _date_in(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if _FIRST_YEAR <= found.year <= _LAST_YEAR else None


def _month_after(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def _week_begin(day: date) -> date:
    # Sunday is 0 in Django's formats, Monday in Python's weekdays.
    first_weekday = (int(get_format("FIRST_DAY_OF_WEEK")) - 1) % 7
    return day - timedelta(days=(day.weekday() - first_weekday) % 7)
