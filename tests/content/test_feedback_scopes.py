"""Feedback, its notifications and preview links for users with a content scope."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from content.models import Layer, Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.actor import Actor
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from proofroom.notifications.queries import (
    count_unread,
    count_unseen,
    describe,
    visible_notifications,
)
from proofroom.notifications.services import add_notifications
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import change_feedback, create_feedback, delete_feedback
from proofroom_apps.previews.services import create_preview_link, open_preview
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


@pytest.fixture
def posts() -> tuple[Post, Post]:
    """Create one post in the section `docs`, and one outside."""
    root = make.post("Docs", type="page", slug="docs")
    scope = ContentScope(sections=frozenset({root.pk}))
    make.site_role("docs", *LIMITABLE, scope=scope)
    make.site_role(
        "reader",
        *LIMITABLE,
        scope=ContentScope(sections=frozenset({root.pk}), reads_all=True),
    )
    inside = make.post("Inside", type="page", slug="inside", parentId=str(root.pk))
    return inside, make.post("Zanzibar", type="page", slug="zanzibar")


def note(post: Post, role: str = "editor") -> Feedback:
    return create_feedback(
        post_id=str(post.pk), content=f"A note on {post.title}", actor=make.actor(role)
    )


def move_out(post: Post) -> None:
    make.edited(post, {"parentId": None})


def test_notes_on_posts_outside_are_in_no_list(posts: tuple[Post, Post]) -> None:
    for post in (*posts, *posts):
        note(post)
    client = ApiClient("docs")

    listed = client.get("/api/feedbacks?per_page=1").json()
    of_it = client.get(f"/api/feedbacks?postId={posts[1].pk}").json()
    page = client.get("/admin/proofroom_feedback/feedback/").content.decode()

    assert listed["meta"]["total"] == 2
    assert of_it["meta"]["total"] == 0
    assert "A note on Inside" in page
    assert "Zanzibar" not in page
    assert ApiClient("reader").get("/api/feedbacks").json()["meta"]["total"] == 4


def test_a_note_on_a_post_outside_is_not_there(posts: tuple[Post, Post]) -> None:
    row, client, actor = note(posts[1]), ApiClient("docs"), make.actor("docs")
    before = Feedback.objects.values().get()

    pages = [
        client.get(f"/admin/proofroom_feedback/feedback/{row.pk}/{name}/").status_code
        for name in ("change", "delete")
    ]
    with pytest.raises(NotFound):
        change_feedback(feedback_id=row.pk, status="resolved", actor=actor)
    with pytest.raises(NotFound):
        delete_feedback(feedback_id=row.pk, actor=actor)
    with pytest.raises(RuleViolation) as caught:
        note(posts[1], "docs")

    assert pages == [404, 404]
    assert caught.value.code == "unknown_post"
    assert Feedback.objects.values().get() == before


def test_who_only_reads_outside_gives_and_decides_on_no_note(posts: tuple[Post, Post]) -> None:
    row, actor = note(posts[1]), make.actor("reader")

    for write in (
        lambda: change_feedback(feedback_id=row.pk, status="resolved", actor=actor),
        lambda: delete_feedback(feedback_id=row.pk, actor=actor),
        lambda: note(posts[1], "reader"),
    ):
        with pytest.raises(NotAllowed) as caught:
            write()
        assert caught.value.code == "outside_of_scope"
    assert Feedback.objects.get().status == "pending"


def test_notes_inside_are_given_and_resolved(posts: tuple[Post, Post]) -> None:
    row = note(posts[0], "docs")

    change_feedback(feedback_id=row.pk, status="resolved", actor=make.actor("docs"))

    assert Feedback.objects.get().status == "resolved"


def tell() -> None:
    add_notifications(list(Event.objects.order_by("pk")))


def lines(actor: Actor) -> list[str]:
    return [line.text.text for line in describe(list(visible_notifications(actor)), actor)]


def test_people_are_notified_of_what_they_may_decide_on(posts: tuple[Post, Post]) -> None:
    docs, reader, admin = map(make.actor, ("docs", "reader", "admin"))
    for post in posts:
        make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
        note(post)

    tell()
    tell()

    own = ["1 new comment in Feedback", "Changes to “Inside” are waiting in Review"]
    assert sorted(lines(docs)) == own
    assert sorted(lines(reader)) == own, "who may only read decides on nothing"
    assert "Changes to “Zanzibar” and 1 other post are waiting in Review" in lines(admin)


def test_posts_that_left_the_scope_are_not_reported(posts: tuple[Post, Post]) -> None:
    docs = make.actor("docs")
    make.staged(posts[0], {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    assert (len(lines(docs)), count_unread(docs), count_unseen(docs)) == (1, 1, 1)

    move_out(posts[0])

    docs = make.actor("docs")
    assert (lines(docs), count_unread(docs), count_unseen(docs)) == ([], 0, 0)


def test_counting_notifications_is_one_statement_more_than_without_limits(
    posts: tuple[Post, Post],
) -> None:
    numbers = []
    for role in ("editor", "docs"):
        actor = make.actor(role)
        actor.can("posts.view")
        numbers.append(count_queries(count_unread, actor))

    assert numbers[0] == 1
    assert numbers[1] <= 2


def opens(token: str) -> int:
    return Client().get(f"/preview/{token}").status_code


def test_links_end_where_their_maker_no_longer_sees_the_post(posts: tuple[Post, Post]) -> None:
    _, token = create_preview_link(
        post_id=posts[0].pk, layer="source", actor=make.actor("docs", via="admin")
    )
    assert opens(token) == 200

    move_out(posts[0])

    assert opens(token) == 404
    assert open_preview(token) is None


def test_links_are_made_listed_and_revoked_inside_alone(posts: tuple[Post, Post]) -> None:
    client = ApiClient("docs")
    create_preview_link(post_id=posts[1].pk, layer="source", actor=make.actor("editor"))
    principal = Principal(id="docs", user_id=make.user("docs").pk)

    def path(post: Post) -> str:
        return f"/api/posts/{post.pk}/preview-links"

    assert client.get(path(posts[1])).status_code == 404
    assert client.send("POST", path(posts[1]), {"layer": "source"}).status_code == 404
    found: Any = call_tool(principal, "list_post_preview_links", {"postId": str(posts[1].pk)})
    assert found.is_error
    made = client.write("POST", path(posts[0]), {"layer": "source"}, expect=201)
    assert opens(urlsplit(made["url"]).path.rpartition("/")[2]) == 200
    assert client.get(path(posts[0])).json()["meta"]["total"] == 1


def test_a_change_that_brings_a_note_of_others_nearer_is_seen_at_once(
    posts: tuple[Post, Post],
) -> None:
    note(posts[1])
    root = Post.objects.get(slug="docs")
    make.edited(posts[1], {"parentId": str(root.pk)})

    assert ApiClient("docs").get("/api/feedbacks").json()["meta"]["total"] == 1
