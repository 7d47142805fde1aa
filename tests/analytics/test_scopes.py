"""Figures for users with a content scope: only of posts in it."""

from __future__ import annotations

from typing import Any

import pytest

from analytics.models import Dimension
from content.models import Post
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from tests import make
from tests.analytics.begun import begun
from tests.analytics.counted import ago, arm, count
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)
CANARY = "Zanzibar"
SUMMARY = "/admin/analytics/sitecount/"


@pytest.fixture
def posts() -> tuple[Post, Post]:
    """Create one post inside and one outside, with figures of both and of the site."""
    make.site_role("pages", *LIMITABLE, scope=ContentScope(types=frozenset({"page"})))
    make.site_role(
        "reader", *LIMITABLE, scope=ContentScope(types=frozenset({"page"}), reads_all=True)
    )
    inside = make.post("Inside", type="page")
    outside = make.post(CANARY, slug="zanzibar")
    for post, views in ((inside, 30), (outside, 4000)):
        count(ago(1), views, 3, post_id=post.pk)
        count(ago(2), views, 3, post_id=post.pk)
        count(
            ago(1),
            views,
            dimension=Dimension.REFERRER,
            value=f"{post.slug}.example",
            post_id=post.pk,
        )
        count(ago(1), views, dimension=Dimension.DEVICE, value="mobile", post_id=post.pk)
    count(ago(1), 4030, 6)
    count(ago(2), 4030, 6)
    return inside, outside


def test_site_figures_cover_only_posts_in_scope(posts: tuple[Post, Post]) -> None:
    inside, _outside = posts

    found = ApiClient("pages").get("/api/analytics/summary").json()
    all_of_it = ApiClient("reader").get("/api/analytics/summary").json()

    assert found["totals"]["views"] == 60
    assert [row["views"] for row in found["overTime"] if row["views"]] == [30, 30]
    assert [row["postId"] for row in found["topPosts"]] == [str(inside.pk)]
    assert [row["host"] for row in found["referrers"]] == ["inside.example"]
    assert [row["views"] for row in found["devices"]] == [30]
    assert all_of_it["totals"]["views"] == 8060
    assert len(all_of_it["topPosts"]) == 2


@pytest.mark.parametrize(
    "address", [SUMMARY, f"{SUMMARY}export/?of=posts", f"{SUMMARY}?post={CANARY}"]
)
def test_pages_and_exports_say_nothing_of_what_is_outside(
    posts: tuple[Post, Post], address: str
) -> None:
    response: Any = ApiClient("pages").get(address)
    text = b"".join(response.streaming_content) if response.streaming else response.content

    assert CANARY not in text.decode().replace(f'value="{CANARY}"', "")
    assert "4,000" not in text.decode()
    assert "4,030" not in text.decode()
    assert response.status_code in (200, 422)


@pytest.mark.parametrize(
    "address",
    [
        "/api/analytics/summary?postId={}",
        "/api/analytics/heatmap?postId={}",
        "/api/analytics/heatmap/modules?postId={}",
        "/api/analytics/variations?postId={}",
        "/admin/analytics/heatmap/{}/",
        "/admin/analytics/frame/{}/",
        "/admin/analytics/variations/{}/",
    ],
)
def test_figures_of_one_post(posts: tuple[Post, Post], address: str) -> None:
    inside, outside = posts

    answers = [ApiClient("pages").get(address.format(post.pk)) for post in (inside, outside)]
    read = ApiClient("reader").get(address.format(outside.pk))

    assert answers[0].status_code == 200
    assert answers[1].status_code == 404
    assert CANARY not in answers[1].content.decode()
    assert read.status_code == 200


def test_a_test_of_variations_outside_is_not_there() -> None:
    make.site_role("pages", *LIMITABLE, scope=ContentScope(types=frozenset({"page"})))
    post, (b,) = begun()
    arm(post.pk, b.pk, 1000, 100)
    client = ApiClient("pages")

    found = [client.get(f"/api/analytics/variations?postId={one.pk}") for one in (post, b)]

    assert [answer.status_code for answer in found] == [404, 404]


def test_the_statements_of_a_summary_do_not_grow_with_the_posts(posts: tuple[Post, Post]) -> None:
    client = ApiClient("pages")
    numbers = []
    for more in range(2):
        numbers.append(count_queries(client.get, "/api/analytics/summary"))
        for number in range(3):
            post = make.post(f"More {more} {number}", type="page")
            count(ago(1), 5, post_id=post.pk)

    assert numbers[0] == numbers[1]
