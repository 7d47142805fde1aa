"""Parsing of dates in sources."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from typing import Final

from django.utils import timezone

from proofroom.core.validation.moments import parse_moment

_DAY: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", re.ASCII)
_OFFSET: Final = re.compile(r"\s(Z|[+-]\d{2}:?\d{2})\Z", re.ASCII)
_FIRST_YEAR: Final = 1000
_MILLISECONDS: Final = 100_000_000_000
"""Lowest number read as milliseconds since 1970. As seconds it would be a year far in the future."""


def read_date(value: object) -> datetime | None:
    """Return a source's date in UTC, or None if it is not a date.

    Reads dates, times, mail dates, and seconds or milliseconds since 1970. Without a zone, a date is in the site's
    zone. Dates before the year 1000 are refused.
    """
    zone = timezone.get_default_timezone()
    found: datetime | None = None
    try:
        # A datetime is a date too, so it is tested first.
        if isinstance(value, datetime):
            found = value if value.tzinfo else value.replace(tzinfo=zone)
        elif isinstance(value, date):
            found = datetime.combine(value, time(), zone)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
            found = datetime.fromtimestamp(seconds, UTC)
        elif isinstance(value, str):
            # Sources write a space before the zone, as in `2019-03-04 05:06:07 +0000`.
            text = _OFFSET.sub(r"\1", value.strip())
            # A day may have other separators and no leading zeros, such as `2019/3/4`.
            if day := _DAY.fullmatch(text):
                found = datetime(int(day[1]), int(day[2]), int(day[3]), tzinfo=zone)
            else:
                found = parse_moment(text.replace("/", "-"), zone=zone) or _mail_date(text)
        found = found.astimezone(UTC) if found is not None else None
    # `fromtimestamp` raises OverflowError or OSError for numbers that are no date.
    except (ValueError, OverflowError, OSError):
        return None
    return found if found is not None and found.year >= _FIRST_YEAR else None


def _mail_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text[:60])
    except (ValueError, TypeError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.get_default_timezone())
