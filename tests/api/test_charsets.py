"""All input is UTF-8: a charset in the content type neither breaks nor changes an answer."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from django.core.signals import request_started
from django.db import close_old_connections
from django.test import RequestFactory

from cms_project.requests import Utf8ASGIRequest
from cms_project.wsgi import application
from forms.models import FormSubmission
from tests import make

pytestmark = pytest.mark.django_db

NOT_FOR_TEXT = (
    "text/plain; charset=rot13",
    "text/plain; charset=zlib",
    "text/plain; charset=undefined",
    "text/plain; charset*=nothing''utf-8",
    "application/json; charset*=punycode''%ff",
)


def _answer(method: str, path: str, content_type: str, body: bytes = b"") -> tuple[int, Any]:
    """Return the server's answer to a literal URL in the request line."""
    environ = RequestFactory().generic(method, path, body, content_type="text/plain").environ
    environ["CONTENT_TYPE"] = content_type
    found: list[str] = []
    # Like Django's test client: the connection belongs to the test.
    request_started.disconnect(close_old_connections)
    try:
        text = b"".join(application(environ, lambda status, _: found.append(status)))
    finally:
        request_started.connect(close_old_connections)
    return int(found[0][:3]), json.loads(text)


@pytest.mark.parametrize("content_type", NOT_FOR_TEXT)
def test_a_charset_that_reads_no_text_is_no_fault_of_ours(content_type: str) -> None:
    assert _answer("GET", "/api/public/posts?type=page", content_type)[0] == 200


@pytest.mark.parametrize("content_type", ["x/y; charset*=nothing''x", "text/html; charset=rot13"])
def test_a_body_of_a_type_that_cannot_be_read_is_415(content_type: str) -> None:
    make.form()
    status, answer = _answer("POST", "/api/forms/contact/submit", content_type, b"{}")
    assert (status, answer["code"]) == (415, "unsupported_media_type")


def test_a_charset_changes_no_shared_cached_answer() -> None:
    for number in range(3):
        make.post(title=f"Post {number}", status="published")
    address = "/api/public/posts?per_page=1"
    # In EBCDIC the same bytes are another query.
    for content_type in ("text/plain; charset=cp037", "text/plain"):
        status, answer = _answer("GET", address, content_type)
        assert (status, len(answer["data"]), answer["meta"]["per_page"]) == (200, 1, 1)


def test_a_form_of_a_page_is_read_as_utf_8_whatever_it_says() -> None:
    make.form()
    status, answer = _answer(
        "POST",
        "/api/forms/contact/submit",
        "application/x-www-form-urlencoded; charset=punycode",
        "email=j%40example.com&message=Grüße".encode(),
    )
    assert status == 201, answer
    assert FormSubmission.objects.get().payload["message"] == "Grüße"


@pytest.mark.parametrize("content_type", NOT_FOR_TEXT)
def test_asynchronous_servers_read_alike(content_type: str) -> None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"a=%C3%A9",
        "headers": [(b"content-type", content_type.encode())],
    }
    request = Utf8ASGIRequest(scope, BytesIO())
    assert (request.encoding, request.GET["a"]) == (None, "é")


def test_asynchronous_servers_decode_each_parameter_separately() -> None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [],
        "query_string": b"a=\xff&b=K\xc3\xa4se&c=K%C3%A4se",
    }

    request = Utf8ASGIRequest(scope, BytesIO())

    assert request.GET.dict() == {"a": "\ufffd", "b": "Käse", "c": "Käse"}
