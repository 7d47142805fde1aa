"""The OpenAPI description of tracking."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

MOST: Final = 100
"""Views and clicks of one call."""


class TrackedSchema(serializers.Serializer[object]):
    """How many were kept. Visits of programs, of staff and of whoever asks not to be tracked are not."""

    accepted = serializers.IntegerField(min_value=0, max_value=MOST)


_EVENT: Final[dict[str, Any]] = {
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
            "maximum": 1_000_000,
            "description": "Of a click: pixels from the left of the document.",
        },
        "y": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1_000_000,
            "description": "And from its top.",
        },
        "viewportWidth": {"type": ["number", "null"], "minimum": 1, "maximum": 100_000},
        "metadata": {
            "type": "object",
            "maxProperties": 20,
            "description": "Like the path of the page and the selector of what was clicked; 4,000 bytes at most.",
        },
    },
}
_BODY: Final[dict[str, Any]] = {
    "oneOf": [_EVENT, {"type": "array", "maxItems": MOST, "items": _EVENT}]
}
TRACKED: Final[dict[str, Any]] = {"application/json": _BODY}
# A text is taken as well, as `sendBeacon` names it; generators of clients know no JSON of that name.
