"""Time zones: those that can be chosen, and moments as the reader's zone has them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

_REGIONS: Final = frozenset(
    {
        *("Africa", "America", "Antarctica", "Arctic", "Asia"),
        *("Atlantic", "Australia", "Europe", "Indian", "Pacific"),
    }
)


@cache
def time_zone_names() -> tuple[str, ...]:
    """Names like `Europe/Berlin` in their order, and `UTC`."""
    names = sorted(name for name in available_timezones() if name.split("/")[0] in _REGIONS)
    return (*names, "UTC")


def validate_time_zone(name: str) -> None:
    if name not in time_zone_names():
        raise ValidationError(_("There is no time zone with this name."), code="unknown_time_zone")


def time_zone_choices() -> Iterator[tuple[str, str | list[tuple[str, str]]]]:
    """Yield the zones for a form by region, each with the distance to UTC that it has today."""
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
    """The reader's zone in words, such as "America/New York"."""
    return timezone.get_current_timezone_name().replace("_", " ")


def exact_time(moment: datetime) -> str:
    """The moment in the reader's zone, with the name of the zone."""
    return _in_zone(moment, timezone.get_current_timezone(), get_language())


@lru_cache(4096)
def _in_zone(moment: datetime, zone: tzinfo, language: str | None) -> str:
    """In the language that is active. Kept: lists are looked at again and again, and each has many moments."""
    at = date_format(timezone.localtime(moment, zone), "DATETIME_FORMAT")
    return f"{at} ({current_zone_name()})"


def to_local_input(moment: datetime) -> str:
    """The moment as the value of an `<input type="datetime-local">`, in the reader's zone."""
    return f"{timezone.localtime(moment):%Y-%m-%dT%H:%M}"


def from_local_input(text: str) -> datetime:
    """The moment that somebody wrote in their zone, in UTC.

    Raises `ValueError` for what is no time, and `ValidationError` for a time that the clocks skip or show twice.
    """
    naive = datetime.fromisoformat(text)
    if naive.tzinfo is not None:
        return naive.astimezone(UTC)
    zone = timezone.get_current_timezone()
    first, second = (naive.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    before, after = first.utcoffset(), second.utcoffset()
    if before is not None and after is not None and before != after:
        names = {"time": f"{naive:%H:%M}", "zone": current_zone_name()}
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
