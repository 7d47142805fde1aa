"""JSON as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

import orjson
from pydantic import BaseModel
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request


class OneAnswer(DefaultContentNegotiation):
    """There is one form, whatever the caller accepts; refusals are JSON.

    A cache on the way keeps answers by address alone: what one caller accepts must not decide for the next.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, str(first.media_type)


_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS


def _plain(value: object) -> object:
    """Answers by their names on the wire; times as `proofroom.core.json.format_time` writes them."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, warnings=False)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} is no JSON")
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return aware.isoformat(timespec="milliseconds")[:-6] + "Z"


def dumps(value: object) -> bytes:
    """JSON of dicts, lists, UUIDs, times (ISO 8601, UTC, to the millisecond, `Z`) and `orjson.Fragment`s."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


class OrjsonRenderer(JSONRenderer):
    """Renders with orjson; what a column already holds as JSON text goes through as a `Fragment`."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else dumps(data)
