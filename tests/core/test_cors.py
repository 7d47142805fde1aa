"""Scripts of other sites can read public data and send forms, but use no session."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

ELSEWHERE = "https://shop.example"
NAMES = [
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Credentials",
]


def preflight(path: str, method: str) -> Any:
    headers = {"origin": ELSEWHERE, "access-control-request-method": method}
    return Client().options(path, headers=headers)


def told(response: Any) -> list[str | None]:
    return [response.headers.get(name) for name in NAMES]


@pytest.mark.parametrize(
    "path",
    [
        "/api/public/posts",
        "/api/public/resolve?path=/nowhere",
        "/api/menus/main",
        "/api/menus/by-slug/main",
    ],
)
def test_public_reads_and_their_refusals_are_open(path: str) -> None:
    response = Client().get(path, headers={"origin": ELSEWHERE})

    assert told(response) == ["*", None, None, None]
    assert "ETag" in response.headers["Access-Control-Expose-Headers"]
    methods = "GET, HEAD, POST" if "resolve" in path else "GET, HEAD"
    assert told(preflight(path, "GET")) == ["*", methods, "Content-Type, If-None-Match", None]


def test_a_read_that_is_still_current_is_open_too() -> None:
    make.post()
    first = Client().get("/api/public/posts")

    again = Client().get("/api/public/posts", headers={"if-none-match": first["ETag"]})

    assert again.status_code == 304
    assert told(again) == ["*", None, None, None]


def test_a_form_and_a_count_can_be_sent_from_elsewhere() -> None:
    for path in (
        "/api/forms/contact/submit",
        "/api/public/analytics/track",
        "/api/public/resolve",
    ):
        response = preflight(path, "POST")

        assert response.status_code == 204, path
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "POST" in response.headers["Access-Control-Allow-Methods"]
    make.form("contact")
    sent = Client().post(
        "/api/forms/contact/submit",
        {"email": "a@example.com"},
        content_type="application/json",
        headers={"origin": ELSEWHERE},
    )
    assert sent.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/posts"),
        ("GET", "/api/menus"),
        ("GET", "/api/forms-definitions"),
        ("GET", "/api/auth/me"),
        ("POST", "/api/auth/login"),
        ("POST", "/api/public/agents/seo-specialist/run"),
        ("PUT", "/api/menus/main"),
        ("DELETE", "/api/forms-definitions/contact"),
        ("POST", "/api/forms/contact/submit/more"),
        ("GET", "/admin/"),
        ("POST", "/api/public/posts"),
    ],
)
def test_all_else_stays_closed(method: str, path: str) -> None:
    assert told(preflight(path, method)) == [None, None, None, None]
    client = ApiClient("admin")

    response = client.generic(method, path, headers={"origin": ELSEWHERE})

    assert told(response) == [None, None, None, None]
