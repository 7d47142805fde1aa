"""Time zones to choose from, and times in the reader's zone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache, lru_cache
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.formats import date_format, time_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

LATEST_YEAR: Final = 9000
"""The last accepted year. Later code may add time zones or years, and Python's last year is 9999."""
TIME_ZONE_COOKIE: Final = "admin_time_zone"
"""The zone of the browser, set by a script of the admin."""
_MORNING: Final = time(9)
_REGIONS: Final = frozenset(
    {
        *("Africa", "America", "Antarctica", "Arctic", "Asia"),
        *("Atlantic", "Australia", "Europe", "Indian", "Pacific"),
    }
)


@cache
def time_zone_names() -> tuple[str, ...]:
    """Return names like `Europe/Berlin` in order, and `UTC`."""
    names = sorted(name for name in available_timezones() if name.split("/")[0] in _REGIONS)
    return (*names, "UTC")


def validate_time_zone(name: str) -> None:
    if name not in time_zone_names():
        raise ValidationError(_("There is no time zone with this name."), code="unknown_time_zone")


def find_time_zone(name: object) -> ZoneInfo | None:
    """Return the zone with this name, as a browser or a form sent it; None if it is unknown."""
    return ZoneInfo(name) if isinstance(name, str) and name in time_zone_names() else None


def time_zone_choices() -> Iterator[tuple[str, str | list[tuple[str, str]]]]:
    """Yield the zones as form choices by region, each with its current UTC offset."""
    now = timezone.now()
    for region, names in groupby(time_zone_names(), key=lambda name: name.partition("/")[0]):
        if region == "UTC":
            yield "UTC", "UTC"
            continue
        cities = []
        for name in names:
            offset = f"{now.astimezone(ZoneInfo(name)):%z}"
            city = name.partition("/")[2].replace("_", " ").replace("/", ", ")
            cities.append((name, f"{city} (UTC{offset[:3]}:{offset[3:5]})"))
        yield region, cities


def current_zone_name() -> str:
    """Return the reader's zone for display, such as "America/New York"."""
    return timezone.get_current_timezone_name().replace("_", " ")


def exact_time(moment: datetime) -> str:
    """Return a time in the reader's zone, with the name of the zone."""
    return _format_time(moment, timezone.get_current_timezone(), get_language())


@lru_cache(4096)
def _format_time(moment: datetime, zone: tzinfo, language: str | None) -> str:
    """Return a time in the active language. Cached, because lists show many times and are opened often."""
    at = date_format(timezone.localtime(moment, zone), "DATETIME_FORMAT")
    return f"{at} ({current_zone_name()})"


@dataclass(frozen=True, slots=True)
class SuggestedTime:
    """A time to choose with one click. `value` is for an `<input type="datetime-local">`."""

    label: str
    value: str


def suggested_times() -> list[SuggestedTime]:
    """Return tomorrow and next Monday at nine in the reader's zone; Monday only if it is not tomorrow."""
    today = timezone.localdate()
    at = time_format(_MORNING, "TIME_FORMAT")
    tomorrow, monday = today + timedelta(days=1), today + timedelta(days=7 - today.weekday())
    found = [SuggestedTime(_("Tomorrow %(time)s") % {"time": at}, _morning_of(tomorrow))]
    if monday != tomorrow:
        label = _("Next Monday %(time)s") % {"time": at}
        found.append(SuggestedTime(label, _morning_of(monday)))
    return found


def _morning_of(day: date) -> str:
    return f"{datetime.combine(day, _MORNING):%Y-%m-%dT%H:%M}"


def to_local_input(moment: datetime) -> str:
    """Return the value of an `<input type="datetime-local">` in the reader's zone."""
    return f"{timezone.localtime(moment):%Y-%m-%dT%H:%M}"


def from_local_input(text: str) -> datetime:
    """Return the UTC time of an input in the reader's zone.

    Raises `ValueError` or `OverflowError` for an invalid time, also after `LATEST_YEAR`, and `ValidationError` for a
    time that the clocks skip or repeat.
    """
    naive = datetime.fromisoformat(text)
    if naive.year > LATEST_YEAR:
        raise ValueError("after the last accepted year")
    if naive.tzinfo is not None:
        return naive.astimezone(UTC)
    zone = timezone.get_current_timezone()
    first, second = (naive.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    before, after = first.utcoffset(), second.utcoffset()
    if before is not None and after is not None and before != after:
        names = {"time": f"{naive:%H:%M}", "zone": current_zone_name()}
        # The UTC offset grows when clocks go forward.
        if before < after:
            sentence = _(
                "Clocks in %(zone)s go forward on that day, so %(time)s does not "
                "exist. Choose another time."
            )
            raise ValidationError(sentence % names, code="skipped_time")
        sentence = _(
            "Clocks in %(zone)s go back on that day, so %(time)s occurs twice. Choose another time."
        )
        raise ValidationError(sentence % names, code="repeated_time")
    return first.astimezone(UTC)
