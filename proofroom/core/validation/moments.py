"""Times as users and programs write them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Final

from django.utils.dateparse import parse_datetime

from proofroom.core.i18n.time_zones import LATEST_YEAR

_MAX_CHARACTERS: Final = 40


def parse_moment(value: object, *, zone: tzinfo | None = None) -> datetime | None:
    """Return the UTC time of an ISO 8601 text; None for other values.

    `zone` applies to a text without a zone, such as `2030-01-31T08:00:00`; without `zone` such a text is not
    accepted.
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
