"""The JSON value as a type, and moments as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, overload

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"


@overload
def format_time(moment: datetime) -> str: ...
@overload
def format_time(moment: datetime | None) -> str | None: ...
def format_time(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, ending in Z, to the millisecond."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
