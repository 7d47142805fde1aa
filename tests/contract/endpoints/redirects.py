"""Redirects, and lookup of an address."""

from __future__ import annotations

from uuid import uuid4

from seo.models import Redirect
from tests import make
from tests.contract.endpoint import ALL, EDITORS, Endpoint, Names


def scene() -> Names:
    make.post()
    return {"redirect_id": str(make.redirect("/old", "/blog/how-to-brew-filter-coffee").pk)}


def grow(number: int) -> None:
    make.copies(Redirect.objects.earliest("created_at"), number, from_key=lambda _: uuid4().hex)


ENDPOINTS = [
    Endpoint("GET /api/redirects", EDITORS, invalid=("?type=303", "type"), grow=grow),
    Endpoint(
        "POST /api/redirects",
        EDITORS,
        201,
        body={"fromPath": "/spring", "toPath": "/blog/how-to-brew-filter-coffee", "type": 302},
        invalid=({"fromPath": "/spring", "toPath": "//evil.example"}, "toPath"),
    ),
    Endpoint("GET /api/redirects/<redirect_id>", EDITORS),
    Endpoint(
        "PUT /api/redirects/<redirect_id>",
        EDITORS,
        body={"toPath": "https://shop.example/"},
        invalid=({"toPath": "/old"}, "toPath"),
    ),
    Endpoint("DELETE /api/redirects/<redirect_id>", EDITORS),
    Endpoint("GET /api/redirects/export", EDITORS),
    Endpoint(
        "POST /api/redirects/import",
        EDITORS,
        body={"csv": "/spring,/blog/how-to-brew-filter-coffee"},
        invalid=({"csv": "/spring,javascript:x"}, "lines.1.toPath"),
    ),
    Endpoint("GET /api/public/redirects", ALL, invalid=("?format=xml", "format"), grow=grow),
    Endpoint(
        "POST /api/public/resolve",
        ALL,
        body={"paths": ["/blog/how-to-brew-filter-coffee", "/old", "/nothing"]},
        invalid=({"paths": ["no"]}, "paths.0"),
    ),
    Endpoint(
        "GET /api/public/resolve",
        ALL,
        query="?path=/blog/how-to-brew-filter-coffee",
        invalid=("?path=no", "path"),
    ),
]
