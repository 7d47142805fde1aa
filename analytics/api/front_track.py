"""Views and clicks as nearly all pages report them, taken before Django sees the call.

The rules are those of `TrackViewSet`, which answers whatever is not taken here and says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NotRequired

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from analytics.ingest.report_limits import (
    MAX_BODY_BYTES,
    MAX_EVENTS,
    MAX_METADATA_BYTES,
    MAX_METADATA_KEYS,
    Pixels,
    ViewportWidth,
)
from analytics.ingest.visitor_filter import is_of_visitor
from analytics.services.track import Seen, record_events
from proofroom.core.validation.input_validation import MAX_INTEGER

if TYPE_CHECKING:
    from proofroom.core.caching.front_posts import FrontCall

_MAX_UNTOLD: Final = 100
"""Views and clicks of an address that other processes do not know of yet."""
_NUL: Final = rb"\u0000"
_IdText = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]


@with_config(ConfigDict(extra="forbid", strict=True))
class _Report(TypedDict):
    eventType: Literal["view", "click"]
    postId: NotRequired[_IdText | None]
    x: NotRequired[Pixels | None]
    y: NotRequired[Pixels | None]
    viewportWidth: NotRequired[ViewportWidth | None]
    metadata: NotRequired[Annotated[dict[str, Any], Field(max_length=MAX_METADATA_KEYS)]]


_REPORTS: Final = TypeAdapter(Annotated[list[_Report], Field(min_length=1, max_length=MAX_EVENTS)])


class TrackEndpoint:
    """Takes calls of which every event fits."""

    path = "/api/public/analytics/track"
    scope = "public"
    max_body_bytes = MAX_BODY_BYTES

    def answer(self, call: FrontCall) -> bytes | None:
        seen = _read(call.body)
        if seen is None:
            return None
        if not is_of_visitor(call.meta):
            return b'{"accepted":0}'
        if not call.count("events", len(seen), _MAX_UNTOLD):
            return None
        return b'{"accepted":%d}' % record_events(seen=seen)


def _read(body: bytes) -> list[Seen] | None:
    """The events of a body; None where one may not fit, or is written as pages of the site write none."""
    if _NUL in body:
        return None
    try:
        given = orjson.loads(body)
        reports = _REPORTS.validate_python(given if isinstance(given, list) else [given])
    except (orjson.JSONDecodeError, ValidationError):
        return None
    seen = []
    for report in reports:
        metadata = report.get("metadata", {})
        if metadata and not _is_plain(metadata):
            return None
        post, width = report.get("postId"), report.get("viewportWidth")
        seen.append(
            Seen(
                event_type=report["eventType"],
                post_id=post,
                x=report.get("x"),
                y=report.get("y"),
                viewport_width=None if width is None else round(width),
                metadata=metadata,
            )
        )
    return seen


def _is_plain(metadata: dict[str, Any]) -> bool:
    """Return whether it holds texts, truths and numbers that everybody reads alike, and not too much of them."""
    for value in metadata.values():
        kind = type(value)
        if kind is float or kind is int:
            if not -MAX_INTEGER <= value <= MAX_INTEGER:
                return False
        elif value is not None and kind is not str and kind is not bool:
            return False
    return len(orjson.dumps(metadata)) <= MAX_METADATA_BYTES
