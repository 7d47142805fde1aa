"""The days of a report, in UTC, and the rows to read for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.models import Grain
from proofroom.core.errors import invalid
from proofroom.core.validation.moments import parse_moment

MAX_DAYS: Final = 3_660
"""Ten years."""
_EARLIEST: Final = date(2000, 1, 1)
_LATEST: Final = date(2199, 12, 31)
_DAY: Final = timedelta(days=1)


def day_of(moment: datetime) -> date:
    """Return the day of a moment, in UTC."""
    return moment.astimezone(UTC).date()


def today() -> date:
    """Return the current day, in UTC."""
    return day_of(timezone.now())


@dataclass(frozen=True, slots=True)
class Period:
    """The days from the first to the last, both included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def before(self) -> Period:
        """Return the previous period of the same length."""
        return Period(self.first - self.days * _DAY, self.first - _DAY)

    def each_day(self) -> Iterator[date]:
        return (self.first + n * _DAY for n in range(self.days))

    def each_month(self) -> Iterator[date]:
        """Yield the first days of the months in the period."""
        month = self.first.replace(day=1)
        while month <= self.last:
            yield month
            month = _next_month(month)

    def counts(self, months_to: date) -> Q:
        """Return the rows to sum for the period: whole months where they exist, and the other days."""
        begin = self.first if self.first.day == 1 else _next_month(self.first)
        # Months are summed only up to `months_to`; later ones are read by day.
        end = min((self.last + _DAY).replace(day=1), months_to)
        if begin >= end:
            return self.daily()
        months = Q(grain=Grain.MONTH, day__gte=begin, day__lt=end)
        before = Q(grain=Grain.DAY, day__gte=self.first, day__lt=begin)
        after = Q(grain=Grain.DAY, day__gte=end, day__lte=self.last)
        return months | before | after

    def daily(self) -> Q:
        """Return the daily rows of the period."""
        return Q(grain=Grain.DAY, day__gte=self.first, day__lte=self.last)


def read_period(params: Mapping[str, str], default_days: int = 30) -> Period:
    """Read `from` and `to` of a query: days, or times that select their day in UTC. Default: the last
    30 days.

    Raises `RuleViolation` on `from` or `to`.
    """
    first, last = _day(params, "from"), _day(params, "to")
    if last is None:
        last = today()
    if first is None:
        first = max(_EARLIEST, last - (default_days - 1) * _DAY)
    if first > last:
        raise invalid(
            "from",
            _("from (%(first)s) must not be later than to (%(last)s).")
            % {"first": first, "last": last},
        )
    if (last - first).days >= MAX_DAYS:
        raise invalid(
            "from",
            _("from and to can span at most %(days_most)s days.") % {"days_most": f"{MAX_DAYS:,}"},
        )
    return Period(first, last)


def _day(params: Mapping[str, str], name: str) -> date | None:
    text = params.get(name)
    if text is None:
        return None
    found: date | None = None
    try:
        if len(text) == len("2030-01-31") and text.isascii():
            found = date.fromisoformat(text)
        elif (moment := parse_moment(text, zone=UTC)) is not None:
            found = day_of(moment)
    except (ValueError, OverflowError):
        pass
    if found is None:
        raise invalid(
            name,
            _("%(name)s must be a date, or a date and time, such as 2030-01-31.") % {"name": name},
        )
    if not _EARLIEST <= found <= _LATEST:
        raise invalid(
            name,
            _("%(name)s must be a date from %(earliest)s to %(latest)s.")
            % {"name": name, "earliest": _EARLIEST, "latest": _LATEST},
        )
    return found


def _next_month(day: date) -> date:
    # Four days after the 28th is always in the next month.
    return (day.replace(day=28) + 4 * _DAY).replace(day=1)
