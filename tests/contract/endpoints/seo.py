"""The sitemap, canonical addresses, and the trace of an address."""

from __future__ import annotations

from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    make.post()
    return {}


ENDPOINTS = [
    Endpoint("GET /api/seo/sitemap/status", ADMIN),
    Endpoint("POST /api/seo/sitemap/rebuild", ADMIN),
    Endpoint("POST /api/seo/canonical-urls/populate", ADMIN),
    Endpoint(
        "GET /api/seo/trace",
        ADMIN,
        query="?path=/blog/how-to-brew-filter-coffee",
        invalid=("?path=no", "path"),
    ),
]
