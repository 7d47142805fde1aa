"""The page with the comments of all posts and files, and the notes on pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from content.posts.trash import delete_post
from proofroom.core.content_scope import ContentScope
from proofroom_apps.feedback.services import change_feedback, create_feedback
from tests import make
from tests.api_client import ApiClient
from tests.comments.talk import say
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
URL = "/admin/comments/"


def bodies(client: Client, query: str = "") -> list[str]:
    """Return the texts of the list in order."""
    shown = client.get(URL + query).content.decode()
    return re.findall(r'<p class="comment-body" dir="auto">(.*?)</p>', shown)


def test_comments_and_notes_are_in_one_list_newest_first(signed_in: SignedIn) -> None:
    post, picture, client = make.post("Coffee"), make.image("dark.png"), signed_in()
    mine = say(post, "First", assignee="editor", dueAt="2099-01-02T09:00:00Z")
    say(post, "A reply", by="translator", parentId=mine["id"])
    note = create_feedback(post_id=str(post.pk), content="<i>A note</i>", actor=make.actor("admin"))
    say(picture, "<script>x</script>")
    done = say(post, "Done")
    ApiClient("editor").write("PATCH", f"/api/comments/{done['id']}", {"status": "resolved"})
    escaped = ["&lt;script&gt;x&lt;/script&gt;", "&lt;i&gt;A note&lt;/i&gt;"]

    assert bodies(client) == [*escaped, "First"]
    assert bodies(client, "?kind=mine") == ["First"]
    assert bodies(client, "?kind=notes") == [escaped[1]]
    assert bodies(client, "?show=resolved") == ["Done"]
    assert bodies(client, "?show=all") == ["Done", *escaped, "First"]
    assert bodies(client, "?show=<b>&kind=x&page=x") == [*escaped, "First"]
    shown = client.get(URL).content.decode()
    for text in ("Assigned to editor", "1 reply", "dark.png", "Note: Comment", "2099"):
        assert text in shown
    assert f'href="/admin/content/post/{post.pk}/comments/#comment-{mine["id"]}"' in shown
    assert f'href="/admin/comments/files/{picture.pk}/#comment-' in shown
    assert f'href="/admin/proofroom_feedback/feedback/{note.pk}/change/"' in shown
    assert re.search(r'href="/admin/comments/"[^>]*aria-current="page"', shown)
    change_feedback(feedback_id=note.pk, status="resolved", actor=make.actor("editor"))
    assert escaped[1] not in bodies(client)


def test_the_list_has_what_the_user_may_see(signed_in: SignedIn) -> None:
    inside, outside = make.post("Inside"), make.post(type="page", slug="outside")
    gone = make.post(slug="gone")
    for post in (inside, outside, gone):
        say(post, f"On {post.slug}")
        create_feedback(
            post_id=str(post.pk), content=f"Note on {post.slug}", actor=make.actor("editor")
        )
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    scope = ContentScope(types=frozenset({"blog"}))
    make.site_role("bloggers", "posts.view", "comments.view", "feedback.view", scope=scope)
    make.site_role("readers", "posts.view", "comments.view")
    make.site_role("silent", "posts.view", "posts.edit")

    assert bodies(signed_in("bloggers")) == [f"Note on {inside.slug}", f"On {inside.slug}"]
    assert bodies(signed_in("readers")) == ["On outside", f"On {inside.slug}"]
    assert signed_in("silent").get(URL).status_code == 403


def test_more_rows_need_no_more_queries(signed_in: SignedIn) -> None:
    client = signed_in("translator")

    def fill(slug: str) -> None:
        post = make.post(slug=slug)
        say(post, "x", by="translator", assignee="translator")
        say(make.image(f"{slug}.png"), "x")
        create_feedback(post_id=str(post.pk), content="x", actor=make.actor("editor"))

    fill("one")
    client.get(URL)
    few = page_queries(client, URL)
    for number in range(4):
        fill(f"more-{number}")

    assert page_queries(client, URL) == few
