"""JSON as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import JSONRenderer

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_NON_STR_KEYS


def dumps(value: object) -> bytes:
    """JSON of dicts, lists, UUIDs, times (ISO 8601, UTC, `Z`) and `orjson.Fragment`s."""
    return orjson.dumps(value, option=_OPTIONS)


class OrjsonRenderer(JSONRenderer):
    """Renders with orjson; what a column already holds as JSON text goes through as a `Fragment`."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else dumps(data)
