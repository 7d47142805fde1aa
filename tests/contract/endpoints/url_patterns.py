"""URL patterns."""

from __future__ import annotations

from content.models import UrlPattern
from content.paths.url_patterns import create_pattern
from tests import make
from tests.contract.endpoint import EDITORS, Endpoint, Names


def scene() -> Names:
    make.post()
    row = create_pattern(
        actor=make.actor(), type="blog", locale="en", pattern="/news/{yyyy}/{slug}"
    )
    return {"pattern_id": str(row.pk)}


def grow(number: int) -> None:
    make.copies(UrlPattern.objects.earliest("created_at"), number, type=_unused())


def _unused():
    """Return types without a pattern, because each type has only one."""
    begin = UrlPattern.objects.count()
    return lambda place: f"type-{begin + place}"


ENDPOINTS = [
    Endpoint("GET /api/url-patterns", EDITORS, invalid=("?page=0", "page"), grow=grow),
    Endpoint(
        "POST /api/url-patterns",
        EDITORS,
        201,
        body={"type": "blog", "locale": "de", "pattern": "/neues/{slug}"},
        invalid=({"type": "blog", "locale": "de", "pattern": "/neues/{title}"}, "pattern"),
    ),
    Endpoint(
        "PUT /api/url-patterns/<pattern_id>",
        EDITORS,
        body={"pattern": "/news/{slug}"},
        invalid=({"pattern": "news/{slug}"}, "pattern"),
        stale={"pattern": "/news/{slug}", "version": 99},
    ),
    Endpoint("DELETE /api/url-patterns/<pattern_id>", EDITORS),
]
