"""Invalid input to tracking: a clear error, nothing stored, and no server error."""

from __future__ import annotations

import json
import logging
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from analytics.models import AnalyticsEvent
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
TRACK = "/api/public/analytics/track"
NOBODY = "3d6f9c1e-5b7a-4e21-9c48-2f0a7d5e8b13"
VIEW: dict[str, Any] = {"eventType": "view"}
MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Any:
    """Fail if the server logs an error."""
    yield
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"eventType":"view","metadata":{"a":"\\u0000"}}', 422),
        ('{"eventType":"view","metadata":{"\\u0000":1}}', 422),
        ('{"eventType":"view\\u0000"}', 422),
        ('{"eventType":"view","metadata":{"a":"\\ud800"}}', 400),
        ('{"eventType":"view","metadata":{"\\udfff":1}}', 400),
        (b'{"eventType":"view","metadata":{"a":"\xed\xa0\x80"}}', 400),
        (b'{"eventType":"view","metadata":{"a":"\xff\xfe"}}', 400),
        (b"\xef\xbb\xbf" + b'{"eventType":"view"}', 400),
        (b"\x00\x01\x02", 400),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", 400),
        ('{"eventType":"view","x":NaN}', 400),
        ('{"eventType":"click","x":Infinity,"y":-Infinity}', 400),
        ('{"eventType":"click","x":1e309}', 400),
        ('{"eventType":"click","x":1e308}', 422),
        ('{"eventType":"click","x":' + "9" * 400 + "}", 400),
        ('{"eventType":"click","x":' + "9" * 30 + "}", 422),
        ('{"eventType":"click","metadata":{"n":9007199254740993}}', 422),
        ('{"eventType":"click","viewportWidth":2147483648}', 422),
        ('{"eventType":"click","viewportWidth":0.4}', 422),
        ('{"eventType":"click","postId":{"$gt":""}}', 422),
        ('{"eventType":"click","postId":["' + NOBODY + '"]}', 422),
        ('{"eventType":"click","postId":"{' + NOBODY + '}"}', 422),
        ('{"eventType":"click","postId":"' + "0" * MEGABYTE + '"}', 413),
        ('{"eventType":"view","goal":"form:contact"}', 422),
        ('{"eventType":"view","locale":"en"}', 422),
        ('{"eventType":"view","version":1}', 422),
        ('{"eventType":"view","created_at":"2001-01-01"}', 422),
        ('{"eventType":"view","createdAt":"2001-01-01"}', 422),
        ('{"eventType":"view","id":1}', 422),
        ('{"event_type":"view"}', 422),
        ('{"eventType":"view","__proto__":{"a":1}}', 422),
        ("[" * 60 + "]" * 60, 422),
        ("[" * 200_000, 400),
        ('{"eventType":"view","metadata":' + '{"a":' * 30 + "1" + "}" * 31, 422),
        ('"view"', 422),
        ("true", 422),
        ("[null]", 422),
        ("[[]]", 422),
        ("[[[{}]]]", 422),
        (json.dumps([VIEW] * 101), 422),
        (json.dumps({**VIEW, "metadata": {"a": "x" * 200_000}}), 422),
        (json.dumps({**VIEW, "metadata": {"a": "x" * MEGABYTE}}), 413),
        (json.dumps([VIEW] * 99 + [{**VIEW, "metadata": {"a": "\x00"}}]), 422),
        ("x" * MEGABYTE, 413),
        (" " * MEGABYTE, 413),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_it_is_refused_as_json_and_as_a_text(body: str | bytes, status: int) -> None:
    for kind in ("application/json", "text/plain;charset=UTF-8"):
        response = Client().generic("POST", TRACK, body, content_type=kind)

        assert response.status_code == status, response.content[:300]
        assert set(response.json()) == {"error", "code", "details"}
        assert len(response.content) < 2_000
    assert AnalyticsEvent.objects.count() == 0


@pytest.mark.parametrize(
    "kind",
    ["", "text/html", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "application/json\x00", "text", "application/cbor"],
    ids=repr,
)  # fmt: skip
def test_other_types_are_not_read(kind: str) -> None:
    response = Client().generic("POST", TRACK, json.dumps(VIEW), content_type=kind)

    assert response.status_code == 415, response.content[:300]
    assert AnalyticsEvent.objects.count() == 0


def test_a_thousand_ids_that_are_no_posts_ask_one_question_each_hundred(
    django_assert_num_queries: Any,
) -> None:
    post = make.post()
    client = ApiClient()

    for _ in range(10):
        bodies = [{**VIEW, "postId": str(uuid4())} for _ in range(100)]
        with django_assert_num_queries(1):
            assert client.write("POST", TRACK, bodies) == {"accepted": 0}
    bodies = [{**VIEW, "postId": str(uuid4())} for _ in range(99)]
    assert client.write("POST", TRACK, [{**VIEW, "postId": str(post.pk)}, *bodies]) == {
        "accepted": 1
    }
    assert AnalyticsEvent.objects.count() == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_X_FORWARDED_FOR": "1.2.3.4\r\nX-Evil: 1"},
        {"HTTP_X_FORWARDED_FOR": ",".join(["1.2.3.4"] * 10_000)},
        {"HTTP_USER_AGENT": "\x00\ud800" + "a" * 50_000},
        {"HTTP_COOKIE": "cms_staff=\x001; sessionid=" + "x" * 5_000},
        {"HTTP_COOKIE": "sessionid=' OR 1=1"},
        {"HTTP_AUTHORIZATION": "Bearer cms_wrong"},
        {"HTTP_ORIGIN": "null"},
        {"HTTP_REFERER": "javascript:alert(1)"},
        {"HTTP_ACCEPT": "text/html;q=NaN"},
        {"HTTP_DNT": "yes\x00", "HTTP_SEC_GPC": "11"},
        {"HTTP_SEC_PURPOSE": "\x00prefetch"},
        {"HTTP_CONTENT_ENCODING": "gzip"},
        {"HTTP_X_HTTP_METHOD_OVERRIDE": "DELETE"},
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_headers_of_any_kind_change_nothing(headers: dict[str, str]) -> None:
    response = ApiClient().send("POST", TRACK, VIEW, **headers)

    assert (response.status_code, response.json()) == (200, {"accepted": 1})
    assert not response.cookies
    assert AnalyticsEvent.objects.get().metadata == {}


@pytest.mark.parametrize("length", ["-1", "abc", "1e3", "99999999999999999999", ""])
def test_a_length_that_is_none_is_no_error_of_ours(length: str) -> None:
    for address in (TRACK, "/api/forms/contact/submit"):
        response = ApiClient().send("POST", address, VIEW, CONTENT_LENGTH=length)

        assert response.status_code in (200, 400, 404, 413, 422), response.content[:300]


def test_foreign_client_metadata_grants_nothing() -> None:
    post = make.post()
    metadata = {
        "locale": "x' OR 1=1", "version": 1e15, "goal": {"$ne": 1}, "referrer": "<script>",
        "postModuleId": ["a"], "moduleX": "NaN", "path": "\u202e\ufeff", "selector": "%s %(x)s {0}",
        "variation_of": str(uuid4()), "": "", "a.b": "'; DROP TABLE x; --",
    }  # fmt: skip
    body = {"eventType": "click", "postId": str(post.pk), "metadata": metadata}

    assert ApiClient().write("POST", TRACK, [body] * 2) == {"accepted": 2}

    for row in AnalyticsEvent.objects.all():
        assert row.metadata == metadata
        assert (row.locale, row.version, row.variation_of, row.goal) == ("en", 1, None, "")
