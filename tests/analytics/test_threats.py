"""Known attacks on figures and experiments, by threat number."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from analytics.models import AnalyticsEvent
from content.models import Post
from content.posts.publish import set_status
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

TRACK = "/api/public/analytics/track"
FIGURES = ("summary", "heatmap", "heatmap/modules", "variations")
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36"


@pytest.fixture
def tested() -> tuple[Post, Post]:
    post = make.post(slug="tested")
    made = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    make.edited(made, {"title": "Canaryword"})
    arm = change_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor(), running=True)
    return post, arm


def test_threat_04_a_variations_figures_need_its_own_original(
    tested: tuple[Post, Post],
) -> None:
    _, arm = tested
    other = make.post("Other", slug="other")
    editor = ApiClient("editor")

    path = f"/api/posts/{other.pk}/variations/{arm.pk}"
    editor.write("PATCH", path, {"running": False}, expect=404)
    editor.write(
        "POST", f"/api/posts/{other.pk}/promote-variation", {"variationId": str(arm.pk)}, expect=422
    )
    shown = editor.read(f"/api/analytics/variations?postId={other.pk}")

    assert str(arm.pk) not in str(shown)
    assert Post.objects.get(pk=arm.pk).variation_running
    assert Post.objects.get(pk=other.pk).title == "Other"


@pytest.mark.parametrize("role", ["editor", "translator"])
@pytest.mark.parametrize("name", FIGURES[:3])
def test_threat_21_who_may_not_see_figures_hears_the_same_of_every_post(
    name: str, role: str
) -> None:
    post = make.post()
    client = ApiClient(role)

    answers = [client.get(f"/api/analytics/{name}?postId={id_}") for id_ in (post.pk, uuid4(), "x")]

    assert [answer.status_code for answer in answers] == [403] * 3
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize("name", FIGURES)
def test_threat_21_what_never_was_and_what_is_no_id_name_nothing(name: str) -> None:
    missing = ApiClient("admin").get(f"/api/analytics/{name}?postId={uuid4()}")
    other = ApiClient("admin").get(f"/api/analytics/{name}?postId={uuid4()}")

    assert (missing.status_code, other.status_code) == (404, 404)
    assert missing.json()["code"] == other.json()["code"] == "not_found"


def test_threat_21_an_arm_of_what_is_not_published_is_like_nothing(
    tested: tuple[Post, Post],
) -> None:
    post, arm = tested
    set_status(post_id=post.pk, status="draft", actor=make.actor())
    bodies = [{"eventType": "view", "postId": str(id_)} for id_ in (post.pk, arm.pk, uuid4())]

    answers = [ApiClient().write("POST", TRACK, body) for body in bodies]
    pages = [Client().get(path) for path in (f"{post.path}?variation=B", "/blog/nothing")]

    assert answers == [{"accepted": 0}] * 3
    assert not AnalyticsEvent.objects.exists()
    assert [page.status_code for page in pages] == [404, 404]
    assert b"Canaryword" not in pages[0].content


@pytest.mark.parametrize("name", FIGURES)
def test_threat_22_conditions_open_no_figures_and_nothing_keeps_them(name: str) -> None:
    post = make.post()
    path = f"/api/analytics/{name}?postId={post.pk}"

    seen = ApiClient("admin").get(path)
    refused = [
        ApiClient(role).get(path, HTTP_IF_NONE_MATCH=etag).status_code
        for role in (None, "translator")
        for etag in ("*", seen.get("ETag", '"x"'))
    ]

    assert seen.status_code == 200
    assert "no-store" in seen["Cache-Control"]
    assert refused == [401, 401, 403, 403]


def test_threat_22_the_tag_of_one_arm_does_not_open_another(tested: tuple[Post, Post]) -> None:
    post, _ = tested
    named = Client().get(f"{post.path}?variation=B", HTTP_USER_AGENT=BROWSER)
    original = Client().get(post.path, HTTP_USER_AGENT="Googlebot/2.1")
    assert b"Canaryword" in named.content
    assert b"Canaryword" not in original.content

    again = Client().get(
        post.path, HTTP_USER_AGENT="Googlebot/2.1", HTTP_IF_NONE_MATCH=named.get("ETag", '"x"')
    )

    assert again.status_code == 200
    assert again.content == original.content


@pytest.mark.parametrize("header", ["HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_FORWARDED"])
def test_threat_57_made_up_addresses_buy_neither_events_nor_another_arm(
    header: str, tested: tuple[Post, Post], settings: Any
) -> None:
    post, _ = tested
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "events": "10/hour"}
    hops = [{header: f"203.0.113.{number}"} for number in range(12)]

    arms = {
        b"Canaryword" in Client().get(post.path, HTTP_USER_AGENT=BROWSER, **hop).content
        for hop in hops
    }
    statuses = [
        ApiClient().send("POST", TRACK, [{"eventType": "view"}] * 5, **hop).status_code
        for hop in hops[:3]
    ]

    assert len(arms) == 1
    assert statuses == [200, 200, 429]
    assert AnalyticsEvent.objects.count() == 10
