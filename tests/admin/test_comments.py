"""The page of a post's comments, and the same threads as a part of the editor."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Layer, Post
from proofroom.core.content_scope import ContentScope
from proofroom_apps.comments.models import Comment
from proofroom_apps.feedback.services import create_feedback
from tests import make
from tests.comments.talk import say
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def page(post: Post, query: str = "") -> str:
    return f"/admin/content/post/{post.pk}/comments/{query}"


def test_a_thread_is_written_answered_assigned_and_resolved(signed_in: SignedIn) -> None:
    post = make.post()
    make.user("translator")
    client = signed_in()
    sent = {"do": "add", "body": "Shorter", "path": "post.title", "quote": "filter coffee"}

    assert client.post(page(post), sent).status_code == 302
    comment = Comment.objects.get()
    assert (comment.body, comment.path, comment.quote) == ("Shorter", "post.title", "filter coffee")
    client.post(page(post), {"do": f"reply:{comment.pk}", "body": "Why?"})
    due = {"assignee": "translator", "due": "2099-01-02T09:00"}
    client.post(page(post), {"do": f"assign:{comment.pk}", **due})
    shown = client.get(page(post)).content.decode()
    for text in ("Shorter", "filter coffee", "Why?", "Assigned to translator", "2099"):
        assert text in shown
    # The same time again, as the form has it, is no change.
    client.post(page(post), {"do": f"assign:{comment.pk}", **due})
    client.post(page(post), {"do": f"resolve:{comment.pk}"})
    comment.refresh_from_db()
    assert (comment.status, comment.assignee) == ("resolved", make.user("translator"))
    assert "No open comments." in client.get(page(post)).content.decode()
    assert "Shorter" in client.get(page(post, "?show=resolved")).content.decode()
    client.post(page(post), {"do": f"reopen:{comment.pk}"})
    client.post(page(post), {"do": f"delete:{comment.pk}"})
    assert not Comment.objects.exists()


def test_the_part_answers_threads_warnings_and_problems(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    part = page(post, "?part=panel")

    done = client.post(part, {"do": "add", "body": "@nobody-here look"})
    wrong = client.post(part, {"do": "add", "body": "x", "path": "post.title", "quote": "absent"})

    assert done.status_code == 200
    assert "@nobody-here: Nobody here has this username." in done.content.decode()
    assert "<html" not in done.content.decode()
    assert wrong.status_code == 422
    assert "The selected words are not in the saved text." in wrong.content.decode()
    assert Comment.objects.count() == 1


def test_the_part_has_the_places_of_open_threads_whichever_are_listed(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    said = say(post, '<b title="x">', path="post.title", passage={"quote": "filter coffee"})
    done = say(post, path="post.title")
    client.post(page(post), {"do": f"resolve:{done['id']}"})

    for show in ("open", "resolved", "all"):
        shown = client.get(page(post, f"?part=panel&show={show}")).content.decode()
        (text,) = re.findall(r'data-comment-marks="([^"]*)"', shown)
        (mark,) = json.loads(html.unescape(text))
        assert mark == {
            "id": said["id"],
            "path": "post.title",
            "title": '<b title="x">',
            "quote": "filter coffee",
            "prefix": "How to brew",
            "suffix": "",
        }


@pytest.mark.parametrize(
    "sent",
    [
        {"do": "", "body": "x"},
        {"do": "reply:x", "body": "x"},
        {"do": "delete:00000000-0000-4000-8000-000000000000"},
        {"do": "paint:x"},
    ],
)
def test_unknown_comments_are_404(signed_in: SignedIn, sent: dict[str, str]) -> None:
    assert signed_in().post(page(make.post()), sent).status_code == 404


def test_a_comment_of_another_post_is_unknown(signed_in: SignedIn) -> None:
    post, other = make.post(), make.post(slug="other")
    made = say(other)

    answer = signed_in().post(page(post), {"do": f"delete:{made['id']}"})

    assert answer.status_code == 404
    assert Comment.objects.count() == 1


def test_hostile_text_is_shown_as_text(signed_in: SignedIn) -> None:
    post = make.post()
    say(post, "<script>alert(1)</script> & <img src=x onerror=alert(1)>")

    shown = signed_in().get(page(post)).content.decode()

    assert "<script>alert(1)" not in shown
    assert "<img src=x" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img" in shown


def test_who_may_not_see_the_post_sees_no_comments(signed_in: SignedIn) -> None:
    post = make.post(type="page", slug="outside")
    say(post)
    scope = ContentScope(types=frozenset({"blog"}))
    make.site_role("bloggers", "posts.view", "comments.view", "comments.write", scope=scope)
    make.site_role("silent", "posts.view", "posts.edit")

    assert signed_in("bloggers").get(page(post)).status_code == 404
    assert signed_in("bloggers").post(page(post), {"do": "add", "body": "x"}).status_code == 404
    assert signed_in("silent").get(page(post)).status_code == 403
    edit = signed_in("silent").get(f"/admin/content/post/{post.pk}/change/").content.decode()
    assert "data-comments=" not in edit
    assert Comment.objects.count() == 1


def test_the_review_leads_to_a_comment_on_a_change(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    make.staged(post, {"excerpt": "Proposed"}, layer=Layer.REVIEW)
    review = client.get(f"/admin/content/post/{post.pk}/review/?layer=review").content.decode()
    address = page(post, "?change=post.excerpt")
    assert f'href="{address}"' in review

    assert 'name="change_path" value="post.excerpt"' in client.get(address).content.decode()
    client.post(page(post), {"do": "add", "body": "Why?", "change_path": "post.excerpt"})

    assert Comment.objects.get().change_path == "post.excerpt"
    unknown = client.get(page(post, "?change=<b>")).content.decode()
    assert "change_path" not in unknown


def test_the_editor_has_the_tab(signed_in: SignedIn) -> None:
    post = make.post()

    shown = signed_in("translator").get(f"/admin/content/post/{post.pk}/change/").content.decode()

    assert f'data-comments="{page(post, "?part=panel")}"' in shown


def test_notes_on_the_page_stand_below(signed_in: SignedIn) -> None:
    post = make.post()
    create_feedback(post_id=str(post.pk), content="A typo", actor=make.actor("translator"))

    assert "A typo" in signed_in().get(page(post)).content.decode()


def test_more_threads_need_no_more_queries(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("translator")
    made = say(post, path="post.title", passage={"quote": "filter coffee"})
    say(post, "Yes", parentId=made["id"])
    client.get(page(post))
    few = page_queries(client, page(post))
    for _number in range(4):
        made = say(post, path="post.title", passage={"quote": "filter coffee"})
        say(post, "Yes", by="translator", parentId=made["id"])

    assert page_queries(client, page(post)) == few


def test_comments_on_a_file(signed_in: SignedIn) -> None:
    asset, client = make.image("dark.png"), signed_in()
    address = f"/admin/comments/files/{asset.pk}/"
    assert (
        f'href="{address}"' in client.get(f"/admin/media/asset/{asset.pk}/change/").content.decode()
    )

    client.post(address, {"do": "add", "body": "Too dark", "assignee": "editor"})
    comment = Comment.objects.get()
    client.post(address, {"do": f"reply:{comment.pk}", "body": "Replaced"})

    shown = client.get(address).content.decode()
    for text in ("Comments on dark.png", "Too dark", "Replaced", "Assigned to editor"):
        assert text in shown
    assert (comment.asset, comment.post) == (asset, None)
    assert client.post(address, {"do": "add", "body": " "}).status_code == 422
    client.post(address, {"do": f"resolve:{comment.pk}"})
    comment.refresh_from_db()
    assert comment.status == "resolved"
    assert (
        client.get("/admin/comments/files/00000000-0000-4000-8000-000000000000/").status_code == 404
    )


def test_the_preview_lists_threads_and_takes_comments(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    module = make.module_id(post, "prose")
    say(post, "<b>Shorter</b>", path=f"modules.{module}.props.content")
    say(post, "On the title", path="post.title")
    preview = f"/admin/content/post/{post.pk}/preview/?layer=source"

    shown = client.get(preview).content.decode()
    assert "2 open comments" in shown
    assert "Fields of the post" not in shown  # only the comments have fields here
    assert "&lt;b&gt;Shorter&lt;/b&gt;" in shown
    assert shown.count('target="preview">Show in the preview') == 1
    assert f'#module-{module}" target="preview"' in shown
    frame = client.get(f"/admin/content/post/{post.pk}/preview/page/?layer=source").content
    assert frame.count(b'data-note="1 comment"') == 1
    sent = client.post(page(post, "?preview=source&show=open"), {"do": "add", "body": "Longer"})

    assert (sent.status_code, sent["Location"]) == (302, f"{preview}#comments")
    assert "3 open comments" in client.get(preview).content.decode()
    assert client.post(page(post, "?preview=//example.com"), {"do": "add", "body": "x"})[
        "Location"
    ].startswith(page(post))
    make.site_role("silent", "posts.view")
    silent = signed_in("silent")
    assert "Shorter" not in silent.get(preview).content.decode()
    assert (
        b"data-note"
        not in silent.get(f"/admin/content/post/{post.pk}/preview/page/?layer=source").content
    )
