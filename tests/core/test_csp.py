"""The Content-Security-Policy header."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from proofroom.core.middleware import (
    ContentSecurityPolicyMiddleware,
    build_policy,
    csp_override,
)

STRICT = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)


def answer(view) -> HttpResponse:
    return cast("HttpResponse", ContentSecurityPolicyMiddleware(view)(RequestFactory().get("/")))


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse("x")


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"default-src": ["'self'", "data:"]}, "default-src 'self' data:"),
        ({"img-src": "data:"}, "img-src data:"),
        ({"script-src": {"b.example", "a.example"}}, "script-src a.example b.example"),
        ({"sandbox": True, "default-src": ["'none'"]}, "sandbox; default-src 'none'"),
        ({"default-src": None, "img-src": False, "base-uri": []}, ""),
    ],
    ids=["list", "string", "set", "without sources", "left out"],
)
def test_a_policy_is_written_as_browsers_read_it(config, text):
    assert build_policy(config) == text


@pytest.mark.django_db  # what is not there may have been redirected
@pytest.mark.parametrize("path", ["/health", "/api/nothing", "/media/nothing.png"])
def test_every_answer_carries_a_policy(client: Client, path: str):
    policy = client.get(path).headers["Content-Security-Policy"]

    assert policy == STRICT
    assert "Content-Security-Policy-Report-Only" not in client.get(path).headers


@pytest.mark.django_db
def test_the_admin_has_the_same_policy(client: Client):
    assert client.get("/admin/login/").headers["Content-Security-Policy"] == STRICT


def test_a_view_may_have_a_policy_of_its_own():
    response = answer(csp_override({"default-src": ["'none'"]})(plain))

    assert response.headers["Content-Security-Policy"] == "default-src 'none'"


def test_an_empty_policy_sends_no_header():
    assert "Content-Security-Policy" not in answer(csp_override({})(plain)).headers


def test_a_header_that_the_view_set_stays():
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("x", headers={"Content-Security-Policy": "sandbox"})

    assert answer(view).headers["Content-Security-Policy"] == "sandbox"


def test_a_report_only_policy_comes_beside(settings):
    settings.SECURE_CSP_REPORT_ONLY = {"img-src": ["'self'"]}
    response = answer(plain)

    assert response.headers["Content-Security-Policy-Report-Only"] == "img-src 'self'"
    assert response.headers["Content-Security-Policy"] == STRICT


def test_an_asynchronous_view_is_awaited():
    @csp_override({"default-src": ["'none'"]})
    async def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("x")

    async def call() -> HttpResponse:
        middleware: Any = ContentSecurityPolicyMiddleware(view)
        return cast("HttpResponse", await middleware(RequestFactory().get("/")))

    response = asyncio.run(call())

    assert response.headers["Content-Security-Policy"] == "default-src 'none'"
