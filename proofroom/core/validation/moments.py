"""Moments as people and programs write them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Final

from django.utils.dateparse import parse_datetime

LATEST_YEAR: Final = 9000
"""Readers may add a time zone or some years to a moment, and no calendar has a year 10000."""
_MAX_CHARACTERS: Final = 40


def parse_moment(value: object, *, zone: tzinfo | None = None) -> datetime | None:
    """The moment in UTC that a text in ISO 8601 names; None for everything else.

    `zone` is that of a text without one, such as `2030-01-31T08:00:00`, which else names no moment.
    """
    if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
        return None
    try:
        found = parse_datetime(value)
        if found is not None and found.tzinfo is None:
            found = found.replace(tzinfo=zone)
        found = found.astimezone(UTC) if found is not None and found.tzinfo else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and found.year <= LATEST_YEAR else None
