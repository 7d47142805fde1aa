"""The date of the first publication, set by users who may publish."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.models import Post
from content.paths.url_patterns import create_pattern
from content.posts.edit import edit_post
from content.posts.publication_date import read_published_at
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import format_time
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

PAST = "2019-03-04T05:06:07.000Z"


def put(post: Post, role: str = "editor", *, expect: int = 200, **body: Any) -> Any:
    return ApiClient(role).write("PUT", f"/api/posts/{post.pk}", body, expect=expect)


def tomorrow() -> str:
    return format_time(timezone.now() + timedelta(days=1))


def test_a_date_is_set_and_stays_through_a_draft() -> None:
    post = make.post()

    set_ = put(post, publishedAt=PAST)
    put(post, status="draft")
    again = put(post, status="published")

    assert set_["publishedAt"] == PAST
    assert again["publishedAt"] == PAST
    assert Event.objects.filter(name="post.updated", post_id=post.pk).exists()


def test_a_new_post_has_the_date_that_it_is_given() -> None:
    client = ApiClient("editor")
    body = {"type": "blog", "title": "Old", "publishedAt": PAST}

    live = client.write("POST", "/api/posts", {**body, "status": "published"}, expect=201)
    draft = client.write("POST", "/api/posts", {**body, "title": "Older"}, expect=201)

    assert (live["publishedAt"], draft["publishedAt"]) == (PAST, PAST)
    assert put(Post.objects.get(pk=draft["id"]), status="published")["publishedAt"] == PAST


@pytest.mark.parametrize("value", ["soon", 5, "2019-03-04", True, {}, "9999-12-31T00:00:00Z"])
def test_what_is_no_moment_is_refused(value: Any) -> None:
    post = make.post()

    refused("PUT", f"/api/posts/{post.pk}", {"publishedAt": value}, 422, "invalid", "publishedAt")
    body = {"type": "blog", "title": "x", "publishedAt": value}
    refused("POST", "/api/posts", body, 422, "invalid", "publishedAt")


def test_the_future_and_nothing_are_refused() -> None:
    post = make.post()
    path = f"/api/posts/{post.pk}"

    refused("PUT", path, {"publishedAt": tomorrow()}, 422, "invalid", "publishedAt")
    refused("PUT", path, {"publishedAt": None}, 422, "invalid", "publishedAt")
    body = {"type": "blog", "title": "x", "publishedAt": tomorrow()}
    refused("POST", "/api/posts", body, 422, "invalid", "publishedAt")
    assert put(post, status="draft", publishedAt=None)["publishedAt"] is None


def test_what_was_read_is_ignored_by_all() -> None:
    post = make.post("Other")
    draft = make.post(status="draft", locale="de", translation_of=post)
    read = ApiClient("editor").read(f"/api/posts/{post.pk}")

    answer = put(post, title="New", publishedAt=read["publishedAt"])
    translated = put(draft, "translator", title="New", publishedAt=None)

    assert answer["publishedAt"] == read["publishedAt"]
    assert answer["version"] == read["version"] + 1
    assert translated["publishedAt"] is None


def test_a_change_needs_the_right_to_publish() -> None:
    make.site_role("writer", "posts.view", "posts.create", "posts.edit")
    draft, live = make.post(status="draft"), make.post("Live")
    now = format_time(live.published_at)

    refused(
        "PUT",
        f"/api/posts/{draft.pk}",
        {"publishedAt": PAST},
        403,
        "not_allowed",
        "permission",
        role="writer",
    )
    refused(
        "PUT",
        f"/api/posts/{live.pk}",
        {"publishedAt": PAST},
        403,
        "not_allowed",
        "permission",
        role="writer",
    )
    refused(
        "PUT",
        f"/api/posts/{live.pk}",
        {"publishedAt": None},
        403,
        "not_allowed",
        "permission",
        role="writer",
    )
    body = {"type": "blog", "title": "x", "publishedAt": PAST}
    refused("POST", "/api/posts", body, 403, "not_allowed", "permission", role="writer")
    assert put(live, "writer", title="New", publishedAt=now)["title"] == "New"


def test_agents_and_their_clients_cannot_set_it() -> None:
    post = make.post(status="draft")

    with pytest.raises(NotAllowed):
        edit_post(
            post_id=post.pk, actor=make.mcp_actor("admin"), published_at=read_published_at(PAST)
        )

    assert Post.objects.get().published_at is None


def test_a_variation_has_none() -> None:
    from content.posts.variations import create_variation

    post = make.post()
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor())

    with pytest.raises(RuleViolation) as refusal:
        edit_post(post_id=variation.pk, actor=make.actor(), published_at=read_published_at(PAST))

    assert set(refusal.value.details) == {"publishedAt"}


def test_the_address_follows_where_it_has_the_day() -> None:
    create_pattern(
        actor=make.actor(), type="blog", locale="en", pattern="/news/{yyyy}/{mm}/{dd}/{slug}"
    )
    post, draft = make.post("Tea"), make.post("Milk", status="draft")
    old = post.path

    put(post, publishedAt=PAST)
    put(draft, publishedAt=PAST)

    assert Post.objects.get(pk=post.pk).path == "/news/2019/03/04/tea"
    assert Post.objects.get(pk=draft.pk).path == "/news/2019/03/04/milk"
    assert dict(Redirect.objects.values_list("from_path", "to_path")) == {
        old: "/news/2019/03/04/tea"
    }


def test_an_address_that_is_taken_refuses_the_date() -> None:
    create_pattern(actor=make.actor(), type="blog", locale="en", pattern="/{yyyy}/{slug}")
    post = make.post("Tea")
    top = make.post("2019", type="page")
    make.post("Tea", type="page", parentId=str(top.pk))

    answer = refused(
        "PUT", f"/api/posts/{post.pk}", {"publishedAt": PAST}, 422, "path_taken", "slug"
    )

    assert "/2019/tea" in answer["error"]


def test_lists_and_feeds_are_sorted_by_it(client: Any) -> None:
    first, second = make.post("First"), make.post("Second")

    put(second, publishedAt=PAST)

    feed = client.get("/feed.xml")
    if feed.status_code == 200:
        text = feed.content.decode()
        assert text.index("First") < text.index("Second")
        assert "Mon, 04 Mar 2019 05:06:07" in text
    listed = client.get("/api/delivery/posts?type=blog&ordering=-publishedAt")
    if listed.status_code == 200:
        assert [one["id"] for one in listed.json()["data"]] == [str(first.pk), str(second.pk)]
    assert Post.objects.get(pk=second.pk).published_at == datetime(2019, 3, 4, 5, 6, 7, tzinfo=UTC)
