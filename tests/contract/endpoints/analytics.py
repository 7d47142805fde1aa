"""Views and clicks of visitors."""

from __future__ import annotations

from tests import make
from tests.contract.endpoint import ALL, Endpoint, Names

ENDPOINTS = [
    Endpoint(
        "POST /api/public/analytics/track",
        ALL,
        body={"eventType": "view", "postId": "<post_id>", "viewportWidth": 1280},
        invalid=({"eventType": "scroll"}, "eventType"),
    ),
]


def scene() -> Names:
    return {"post_id": str(make.post().pk)}
