"""Tracking: reports are stored completely or not at all, and anonymously."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from analytics.models import AnalyticsEvent
from content.posts.trash import delete_post
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

TRACK = "/api/public/analytics/track"
VIEW: dict[str, Any] = {"eventType": "view"}
PHONE = "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36"


def track(body: Any, expect: int = 200, **headers: str) -> Any:
    return ApiClient().write("POST", TRACK, body, expect=expect, **headers)


def stored() -> int:
    return AnalyticsEvent.objects.count()


def test_a_view_and_a_click_are_kept_as_they_were_reported() -> None:
    post = make.post()
    click = {
        "eventType": "click",
        "postId": str(post.pk),
        "x": 12.5,
        "y": 900,
        "viewportWidth": 390,
        "metadata": {"path": post.path, "selector": "#main > a", "postModuleId": str(uuid4())},
    }

    answers = [track({**VIEW, "postId": None}), track(click)]

    assert answers == [{"accepted": 1}, {"accepted": 1}]
    view, row = AnalyticsEvent.objects.order_by("id")
    assert (view.event_type, view.post_id, view.x, view.viewport_width) == (
        "view",
        None,
        None,
        None,
    )
    assert view.metadata == {}
    assert (row.event_type, row.post_id, row.x, row.y) == ("click", post.pk, 12.5, 900.0)
    assert (row.viewport_width, row.metadata) == (390, click["metadata"])
    assert timezone.now() - row.created_at < timedelta(minutes=1)


def test_a_list_is_one_statement_whatever_posts_it_names(django_assert_num_queries: Any) -> None:
    posts = [str(make.post(f"Post {n}", slug=f"post-{n}").pk) for n in range(4)]
    batch = [{**VIEW, "postId": posts[n % 4]} for n in range(80)]
    client = ApiClient()

    with django_assert_num_queries(1):
        answer = client.write("POST", TRACK, batch)

    assert answer == {"accepted": 80}
    assert stored() == 80


def test_what_a_beacon_sends_is_a_text() -> None:
    response = Client().post(
        TRACK, json.dumps([VIEW, VIEW]), content_type="text/plain;charset=UTF-8"
    )

    assert response.json() == {"accepted": 2}
    assert not response.cookies
    assert response["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "eventType"),
        ({"eventType": "scroll"}, "eventType"),
        ({"eventType": True}, "eventType"),
        ({**VIEW, "postId": "x"}, "postId"),
        ({**VIEW, "postId": 7}, "postId"),
        ({**VIEW, "x": True}, "x"),
        ({**VIEW, "x": "1"}, "x"),
        ({**VIEW, "x": -1}, "x"),
        ({**VIEW, "y": 1_000_001}, "y"),
        ({**VIEW, "y": 2**60}, "y"),
        ({**VIEW, "viewportWidth": 0}, "viewportWidth"),
        ({**VIEW, "viewportWidth": 1e300}, "viewportWidth"),
        ({**VIEW, "metadata": []}, "metadata"),
        ({**VIEW, "metadata": None}, "metadata"),
        ({**VIEW, "metadata": {"a": "x" * 4_000}}, "metadata"),
        ({**VIEW, "metadata": {str(n): n for n in range(21)}}, "metadata"),
        ({**VIEW, "metadata": {"a": [[[[[1]]]]]}}, "metadata"),
        ({**VIEW, "metadata": {"a": "\x00"}}, "metadata.a"),
        ({**VIEW, "ip": "127.0.0.1"}, "ip"),
        ([VIEW, {**VIEW, "x": -1}], "1.x"),
        ([VIEW, 7], "1"),
        ([VIEW] * 101, "body"),
        ("7", "body"),
        ("null", "body"),
    ],
    ids=lambda value: str(value)[:50].encode("ascii", "replace").decode(),
)
def test_anything_wrong_is_422_and_nothing_is_stored(body: Any, field: str) -> None:
    for headers in ({}, {"HTTP_DNT": "1"}):
        response = ApiClient().send("POST", TRACK, body, **headers)

        assert response.status_code == 422, response.content
        assert list(response.json()["details"]) == [field]
    assert stored() == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ("[" * 100 + "]" * 100, 400),
        ('{"eventType": "view", "x": NaN}', 400),
        ('{"eventType": "view", "metadata": {"a": "\\ud800"}}', 400),
        (json.dumps([VIEW] * 100_000), 413),
    ],
    ids=["half", "deep", "nan", "surrogate", "large"],
)
def test_what_cannot_be_read_is_refused(body: str, status: int) -> None:
    assert ApiClient().send("POST", TRACK, body).status_code == status
    assert stored() == 0


def test_staff_who_log_in_are_not_counted_and_are_again_once_they_left() -> None:
    client = ApiClient("editor")

    inside = client.write("POST", TRACK, VIEW)
    client.write("POST", "/api/auth/logout")
    outside = client.write("POST", TRACK, VIEW)

    assert (inside, outside) == ({"accepted": 0}, {"accepted": 1})


def test_threat_21_a_draft_and_nothing_at_all_answer_the_same() -> None:
    draft, gone = make.post("Draft", slug="d", status="draft"), make.post("Gone", slug="g")
    delete_post(post_id=gone.pk, actor=make.actor())
    seen = make.post()

    answers = [track({**VIEW, "postId": str(id_)}) for id_ in (draft.pk, gone.pk, uuid4())]
    mixed = track([{**VIEW, "postId": str(id_)} for id_ in (draft.pk, seen.pk)])

    assert answers == [{"accepted": 0}] * 3
    assert mixed == {"accepted": 1}
    assert list(AnalyticsEvent.objects.values_list("post_id", flat=True)) == [seen.pk]


def test_addresses_and_browsers_are_neither_stored_nor_logged() -> None:
    before = Event.objects.count()

    track(VIEW, REMOTE_ADDR="203.0.113.9", HTTP_USER_AGENT=PHONE, HTTP_REFERER="https://a.example/")

    kept = str(AnalyticsEvent.objects.values().get())
    assert "203.0.113.9" not in kept
    assert "Android" not in kept
    assert "a.example" not in kept
    assert Event.objects.count() == before


def test_pages_carry_the_script_unless_it_is_switched_off(settings: Any) -> None:
    on = Client().get(make.post().path).content
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"analytics_tracking": False})
    off = Client().get(make.post("Other", slug="other").path).content

    assert b"cms/track.js" in on
    assert b"cms/track.js" not in off
