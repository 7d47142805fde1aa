"""The calendar."""

from __future__ import annotations

from content.models import Post
from tests import make
from tests.contract.endpoint import PEOPLE, Endpoint, Names

AT = "2099-01-02T09:00:00Z"


def scene() -> Names:
    post = make.post(status="draft")
    Post.objects.filter(pk=post.pk).update(publish_at=AT)
    return {}


ENDPOINTS = [
    Endpoint(
        "GET /api/calendar",
        PEOPLE,
        query="?from=2099-01-01&to=2099-01-31",
        invalid=("?from=2099-01-01&to=2098-01-01", "to"),
    ),
    Endpoint("GET /api/calendar/feed", PEOPLE),
    Endpoint("POST /api/calendar/feed", PEOPLE),
]
