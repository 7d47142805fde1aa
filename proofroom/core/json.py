"""The type of JSON values, and times in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, overload

import orjson

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"


def sorted_json(value: Json) -> bytes:
    """Return JSON with sorted keys and without spaces: equal values give equal bytes on every database."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


@overload
def format_time(moment: datetime) -> str: ...
@overload
def format_time(moment: datetime | None) -> str | None: ...
def format_time(moment: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC with milliseconds and the suffix Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
