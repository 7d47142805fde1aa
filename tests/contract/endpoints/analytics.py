"""Views and clicks of visitors."""

from __future__ import annotations

from tests import make
from tests.contract.endpoint import ADMIN, ALL, EDITORS, Endpoint, Names

ENDPOINTS = [
    Endpoint(
        "POST /api/public/analytics/track",
        ALL,
        body={"eventType": "view", "postId": "<post_id>", "viewportWidth": 1280},
        invalid=({"eventType": "scroll"}, "eventType"),
    ),
    Endpoint(
        "GET /api/analytics/summary",
        ADMIN,
        query="?postId=<post_id>",
        invalid=("?from=yesterday", "from"),
    ),
    Endpoint(
        "GET /api/analytics/heatmap",
        ADMIN,
        query="?postId=<post_id>",
        invalid=("?postId=<post_id>&viewport=watch", "viewport"),
    ),
    Endpoint(
        "GET /api/analytics/heatmap/modules",
        ADMIN,
        query="?postId=<post_id>",
        invalid=("?eventType=click", "postId"),
    ),
    Endpoint(
        "GET /api/analytics/variations",
        EDITORS,
        query="?postId=<post_id>",
        invalid=("?postId=<post_id>&effect=0", "effect"),
    ),
]


def scene() -> Names:
    return {"post_id": str(make.post().pk)}
