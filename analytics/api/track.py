"""`POST /api/public/analytics/track`: views and clicks, reported by pages."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

import orjson
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema
from pydantic import AfterValidator, ConfigDict, Field
from rest_framework.exceptions import Throttled, UnsupportedMediaType

from analytics.ingest.report_limits import (
    MAX_BODY_BYTES,
    MAX_EVENTS,
    MAX_METADATA_BYTES,
    MAX_METADATA_KEYS,
    MAX_METADATA_LEVELS,
    MAX_PIXELS,
    MAX_VIEWPORT_WIDTH,
    Pixels,
    ViewportWidth,
)
from analytics.ingest.visitor_filter import counts
from analytics.services.track import Seen, record_events
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Id, body_length, dumps
from proofroom.core.api.exceptions import handle
from proofroom.core.api.json_format import read_json
from proofroom.core.api.negotiation import IgnoreAcceptNegotiation
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.throttles import is_unlimited
from proofroom.core.api.views import ApiViewSet
from proofroom.core.caching.rate_limits import count_caller, set_rate_limit_headers
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.validation.errors import validate_input
from proofroom.core.validation.input_validation import is_deeper

EVENT_SHAPE: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["eventType"],
    "properties": {
        "eventType": {"type": "string", "enum": ["view", "click"]},
        "postId": {
            "type": ["string", "null"],
            "format": "uuid",
            "description": "The post whose page it is; null elsewhere.",
        },
        "x": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": MAX_PIXELS,
            "description": "Of a click: pixels from the left of the document.",
        },
        "y": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": MAX_PIXELS,
            "description": "And from its top.",
        },
        "viewportWidth": {"type": ["number", "null"], "minimum": 1, "maximum": MAX_VIEWPORT_WIDTH},
        "metadata": {
            "type": "object",
            "maxProperties": MAX_METADATA_KEYS,
            "description": "Like the path of the page and the selector of what was clicked; 4,000 bytes at most.",
        },
    },
}
TRACK_SHAPE: Final[dict[str, Any]] = {
    "oneOf": [EVENT_SHAPE, {"type": "array", "maxItems": MAX_EVENTS, "items": EVENT_SHAPE}]
}
TRACK_REQUEST: Final[dict[str, Any]] = {"application/json": TRACK_SHAPE}
# `text/plain` is also accepted, because `sendBeacon` sends it, but generated clients cannot use it.


class TrackedAnswer(Answer):
    """The number of stored events. Bots, staff and visitors who opt out are not counted."""

    accepted: int = Field(ge=0, le=MAX_EVENTS)


_MEDIA_TYPES: Final = ("application/json", "text/plain")
"""`sendBeacon` sends JSON as text, to avoid a CORS preflight."""


def require_small(value: dict[str, Any]) -> dict[str, Any]:
    if is_deeper(value, MAX_METADATA_LEVELS):
        raise ValueError(f"must not be nested deeper than {MAX_METADATA_LEVELS} levels")
    if len(orjson.dumps(value)) > MAX_METADATA_BYTES:
        raise ValueError(f"must have at most {MAX_METADATA_BYTES:,} bytes as JSON")
    return value


class TrackedEvent(Body):
    """A view or a click."""

    model_config = ConfigDict(populate_by_name=False)

    event_type: Literal["view", "click"]
    post_id: Id | None = None
    x: Pixels | None = None
    y: Pixels | None = None
    viewport_width: ViewportWidth | None = None
    metadata: Annotated[
        dict[str, Any], Field(max_length=MAX_METADATA_KEYS), AfterValidator(require_small)
    ] = {}


class TrackViewSet(ApiViewSet):
    """Reports from any visitor. No session is read, no cookie is set, no address is stored."""

    authentication_classes = ()
    content_negotiation_class = (
        IgnoreAcceptNegotiation  # a beacon accepts anything and ignores the response
    )
    permissions: ClassVar[dict[str, Declared]] = {"track": PUBLIC}

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer reports as a plain Django view: REST framework took longer per call than storing the events."""
        if request.method != "POST":
            return super().dispatch(request, *args, **kwargs)
        try:
            response = _json(200, {"accepted": self.track(request)})
        except Exception as error:
            refusal = handle(error, {"view": self})
            response = _json(refusal.status_code, refusal.data)
            if "Retry-After" in refusal:
                response.headers["Retry-After"] = refusal["Retry-After"]
        for name, value in getattr(request, "rate_limit_headers", {}).items():
            response.headers[name] = value
        return response

    @extend_schema(request=TRACK_REQUEST, responses={200: TrackedAnswer})
    def track(self, request: HttpRequest) -> int:
        """Report a view or a click, or up to 100 of them. If one is invalid, it is 422 and nothing is
        stored.

        The same JSON as `text/plain` is also accepted, for `sendBeacon`.
        """
        if not is_unlimited(request):
            _count(request, "public")
        if body_length(request) > MAX_BODY_BYTES:
            raise RequestDataTooBig
        body = request.body if body_length(request) else b""
        if body and request.content_type not in _MEDIA_TYPES:
            raise UnsupportedMediaType(request.META.get("CONTENT_TYPE", ""))
        data = read_json(body)
        if isinstance(data, dict):
            seen = [_seen(validate_input(data, TrackedEvent))]
        elif not isinstance(data, list):
            raise invalid("body", "The body must be a JSON object, or a list of them.")
        elif len(data) > MAX_EVENTS:
            raise invalid("body", f"The list may have at most {MAX_EVENTS} entries.")
        else:
            seen = [_seen(_check_entry(place, item)) for place, item in enumerate(data)]
        # Checked after validation, so that errors are the same for all callers.
        if not seen or not counts(request):
            return 0
        # Each event counts against the rate of the address, unless it is exempt.
        _count(request, "events", len(seen))
        return record_events(seen=seen)


def _count(request: HttpRequest, scope: str, hits: int = 1) -> None:
    """Count hits of the caller. Raises `Throttled` beyond the limit.

    The headers show what is left of the limit on calls, or the limit that was exceeded.
    """
    count = count_caller(scope, request, hits)
    if count is None:
        return
    if scope == "public" or count.is_over:
        set_rate_limit_headers(request, count)
    if count.is_over:
        raise Throttled(wait=count.wait)


def _json(status: int, data: object) -> HttpResponse:
    response = HttpResponse(dumps(data), status=status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def _check_entry(place: int, item: object) -> TrackedEvent:
    if not isinstance(item, dict):
        raise invalid(str(place), f"{place} must be an object.")
    try:
        return validate_input(item, TrackedEvent)
    except RuleViolation as error:
        details = {f"{place}.{name}": texts for name, texts in error.details.items()}
        raise RuleViolation(f"{place}.{error.message}", details=details) from None


def _seen(event: TrackedEvent) -> Seen:
    width = event.viewport_width
    return Seen(
        event_type=event.event_type,
        post_id=event.post_id,
        x=event.x,
        y=event.y,
        viewport_width=None if width is None else round(width),
        metadata=event.metadata,
    )
