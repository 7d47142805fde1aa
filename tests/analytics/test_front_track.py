"""Views and clicks that are taken before Django: kept, counted and answered as Django does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.core.cache import cache
from django.db import DatabaseError
from django.test import Client

from analytics.api.front_track import TrackEndpoint
from analytics.models import AnalyticsEvent
from proofroom.core.caching.front_posts import FrontCall
from proofroom.core.caching.hit_batches import hit_batches
from proofroom.core.caching.redis_cache import count_hit
from tests import make
from tests.front import Front

pytestmark = pytest.mark.django_db

TRACK = "/api/public/analytics/track"
VIEW: dict[str, Any] = {"eventType": "view"}
NOW = 1_800_000_050
OF_ONE_CALL = {"X-Request-ID", "X-RateLimit-Remaining", "Content-Length"}


@pytest.fixture(autouse=True)
def nobody_came_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: NOW)
    cache.clear()
    hit_batches.clear()
    # The connection is that of the test, in the middle of its transaction.
    monkeypatch.setattr("proofroom.core.caching.front_posts.close_old_connections", lambda: None)
    yield
    hit_batches.clear()


@pytest.fixture
def front() -> Front:
    """One that has seen what Django answers."""
    found = Front()
    assert found.post(TRACK, b"[]").is_kept is False
    return found


def rows() -> list[dict[str, Any]]:
    """What is kept, but for what is another one's each time."""
    apart = {"id", "created_at"}
    found = AnalyticsEvent.objects.order_by("id").values()
    return [{name: value for name, value in row.items() if name not in apart} for row in found]


def click(**values: Any) -> dict[str, Any]:
    return {"eventType": "click", "viewportWidth": 390.5, "x": 12, "y": 900.25, **values}


def test_what_fits_is_taken_before_django_with_the_headers_of_django(front: Front) -> None:
    post = make.post()
    body = orjson.dumps([VIEW, click(postId=str(post.pk).upper(), metadata={"goal": "hero"})])

    of_django = Client().post(TRACK, body, content_type="text/plain;charset=UTF-8")
    kept = rows()
    AnalyticsEvent.objects.all().delete()
    answered = front.post(TRACK, body)

    assert answered.is_kept
    assert (answered.status, answered.json()) == (200, {"accepted": 2})
    assert rows() == kept != []
    apart = {name.lower() for name in OF_ONE_CALL}
    theirs = {name: value for name, value in of_django.items() if name.lower() not in apart}
    ours = {name: value for name, value in answered.headers.items() if name.lower() not in apart}
    assert ours == theirs
    assert set(answered.headers) >= OF_ONE_CALL


@pytest.mark.parametrize(
    "body",
    [
        VIEW,
        [VIEW] * 100,
        {**VIEW, "postId": None, "x": None, "y": None, "viewportWidth": None},
        click(x=0, y=1_000_000, viewportWidth=1),
        click(viewportWidth=2.5),
        click(viewportWidth=100_000, metadata={}),
        click(metadata={"a": "ü" * 1_000, "n": 2**53, "f": -1.5e-9, "b": True, "none": None}),
        click(metadata={"locale": "de", "version": 3, "goal": "newsletter"}),
        click(metadata={"a": "x" * 3_992}),
    ],
    ids=lambda value: str(value)[:60].encode("ascii", "replace").decode(),
)
def test_it_keeps_what_django_keeps(body: Any, front: Front) -> None:
    sent = orjson.dumps(body)
    said = Client().post(TRACK, sent, content_type="application/json").json()
    kept = rows()
    AnalyticsEvent.objects.all().delete()

    answered = front.post(TRACK, sent)

    assert answered.is_kept
    assert answered.json() == said
    assert rows() == kept


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"7", b"[]", b"[null]", b"[[]]", b"{}",
        b'{"eventType":"scroll"}', b'{"eventType":true}', b'{"event_type":"view"}',
        b'{"eventType":"view","ip":"127.0.0.1"}', b'{"eventType":"view","goal":"form:contact"}',
        b'{"eventType":"view","postId":"x"}', b'{"eventType":"view","postId":7}',
        b'{"eventType":"view","postId":"' + b"0" * 32 + b'"}',
        b'{"eventType":"view","x":true}', b'{"eventType":"view","x":"1"}', b'{"eventType":"view","x":-1}',
        b'{"eventType":"view","x":NaN}', b'{"eventType":"view","x":1e309}', b'{"eventType":"view","y":1000001}',
        b'{"eventType":"view","viewportWidth":0.4}', b'{"eventType":"view","viewportWidth":100001}',
        b'{"eventType":"view","metadata":[]}', b'{"eventType":"view","metadata":null}',
        b'{"eventType":"view","metadata":{"a":"\\u0000"}}', b'{"eventType":"view","metadata":{"a":"\\ud800"}}',
        b'{"eventType":"view","metadata":{"a":"\xff"}}', b'{"eventType":"view","metadata":{"n":9007199254740993}}',
        b'{"eventType":"view","metadata":{"a":[[[[[1]]]]]}}',
        orjson.dumps({**VIEW, "metadata": {"a": "x" * 3_993}}),
        orjson.dumps({**VIEW, "metadata": {str(n): n for n in range(21)}}),
        orjson.dumps([VIEW] * 101),
        orjson.dumps([VIEW] * 99 + [{**VIEW, "x": -1}]),
    ],
    ids=lambda value: ascii(value)[:60],
)  # fmt: skip
def test_what_django_must_judge_goes_on_to_it_whole(body: bytes, front: Front) -> None:
    said = Client().post(TRACK, body, content_type="text/plain")
    kept = rows()

    answered = front.post(TRACK, body)

    assert not answered.is_kept
    assert (answered.status, answered.json()) == (said.status_code, said.json())
    assert rows() == kept == []


def test_nested_metadata_is_kept_by_django(front: Front) -> None:
    answered = front.post(TRACK, orjson.dumps({**VIEW, "metadata": {"a": [{"b": 1}]}}))

    assert not answered.is_kept
    assert rows()[0]["metadata"] == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    "meta",
    [
        {"HTTP_HOST": "evil.example"},
        {"SCRIPT_NAME": "/x"},
        {"HTTP_TRANSFER_ENCODING": "chunked"},
        {"CONTENT_TYPE": "application/x-www-form-urlencoded"},
        {"CONTENT_TYPE": "text/plain;charset=utf-7"},
        {"CONTENT_LENGTH": "-1"},
        {"CONTENT_LENGTH": "999999999"},
        {"CONTENT_LENGTH": ""},
        {"CONTENT_LENGTH": "5000"},
        {"wsgi.url_scheme": "https"},
    ],
    ids=str,
)
def test_unusual_calls_go_on_to_django(meta: dict[str, str], front: Front) -> None:
    assert not front.post(TRACK, b'{"eventType":"view"}', **meta).is_kept


@pytest.mark.parametrize(
    "meta",
    [
        {"HTTP_DNT": "1"},
        {"HTTP_SEC_GPC": "1"},
        {"HTTP_SEC_PURPOSE": "Prefetch"},
        {"HTTP_COOKIE": "a=b; cms_staff=1"},
        {"HTTP_USER_AGENT": "Googlebot/2.1"},
    ],
    ids=str,
)
def test_who_is_no_visitor_is_not_counted(meta: dict[str, str], front: Front) -> None:
    answered = front.post(TRACK, orjson.dumps([VIEW] * 3), **meta)

    assert answered.is_kept
    assert answered.json() == {"accepted": 0}
    assert rows() == []


def test_a_draft_and_nothing_at_all_answer_the_same(front: Front) -> None:
    draft = make.post("Draft", slug="draft", status="draft")
    bodies = [orjson.dumps({**VIEW, "postId": str(id_)}) for id_ in (draft.pk, uuid4())]

    answers = [front.post(TRACK, body) for body in bodies]

    assert [answer.json() for answer in answers] == [{"accepted": 0}] * 2
    assert all(answer.is_kept for answer in answers)


def test_it_is_one_statement_without_a_session(
    front: Front, django_assert_num_queries: Any
) -> None:
    post = str(make.post().pk)

    with django_assert_num_queries(1):
        answered = front.post(TRACK, orjson.dumps([{**VIEW, "postId": post}] * 100))

    assert answered.is_kept
    assert len(rows()) == 100


def limit(settings: Any, **rates: str) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, **rates}


def test_calls_and_events_have_the_rates_of_django(front: Front, settings: Any) -> None:
    limit(settings, public="4/minute", events="10/minute")

    answers = [front.post(TRACK, orjson.dumps([VIEW] * number)) for number in (4, 6, 1)]

    # The first call of the fixture was Django's, and nobody of this process knows of it yet but the shared counter.
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert [answer.is_kept for answer in answers] == [True, True, False]
    assert answers[0].headers["X-RateLimit-Limit"] == "4"
    assert (answers[2].headers["X-RateLimit-Limit"], answers[2].json()["code"]) == (
        "10",
        "too_many_requests",
    )
    assert len(rows()) == 10


def test_calls_beyond_the_rate_of_what_is_public_are_refused(front: Front, settings: Any) -> None:
    limit(settings, public="3/minute")

    statuses = [front.post(TRACK, orjson.dumps(VIEW)).status for _ in range(4)]

    assert statuses[:2] == [200, 200]
    assert statuses[3] == 429
    assert len(rows()) == statuses.count(200)


def test_many_events_are_told_to_other_processes(front: Front) -> None:
    for _ in range(3):
        assert front.post(TRACK, orjson.dumps([VIEW] * 60)).is_kept

    window = NOW // 3600
    assert count_hit(f"throttle:events:127.0.0.1:{window}", 3605) == 60 + 120 + 1


def test_what_the_database_refuses_goes_on_to_django_and_is_kept_once(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: TrackEndpoint, call: FrontCall) -> bytes:
        raise DatabaseError

    monkeypatch.setattr(TrackEndpoint, "answer", broken)

    answered = front.post(TRACK, orjson.dumps(VIEW))

    assert (answered.is_kept, answered.json()) == (False, {"accepted": 1})
    assert len(rows()) == 1
