"""The page that edits several posts: what it offers, errors, and the report of its job."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import Post, PostJob, Status
from content.store import post_repository
from proofroom_apps.comments.models import Comment
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
POSTS = "/admin/content/post/"
EDIT = f"{POSTS}bulk-edit/"


def text(response: Any) -> str:
    return unescape(response.content.decode())


def choose(client: Client, *posts: Post, **more: str) -> Any:
    sent = {"action": "edit", "_selected_action": [str(post.pk) for post in posts], **more}
    return client.post(f"{POSTS}?o=name", sent)


def hidden(page: Any) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="(ids|job|back)" value="([^"]*)"', text(page))
    return dict(found)


def test_posts_of_the_list_are_edited_reported_and_undone(signed_in: SignedIn) -> None:
    make.user("translator")
    term = make.term("Tea")
    posts = [make.post("One"), make.post("Two", status="draft")]
    client = signed_in("editor")

    page = choose(client, *posts, select_across="1", across_count="2")

    shown = text(page)
    assert "2 posts selected" in shown
    assert "1 of them is published. Visitors see its new values immediately." in shown
    form = hidden(page)
    assert form["back"] == f"{POSTS}?o=name"
    until = (timezone.now() + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M")
    sent = {
        **form,
        "time_zone": "Europe/Berlin",
        "terms.do": "add",
        "taxonomyTermIds": [str(term.pk)],
        "unpublishAt.do": "set",
        "unpublishAt": until,
        "assignee": "translator",
        "body": "Please translate this.",
    }
    answer = client.post(EDIT, sent)

    job = PostJob.objects.get()
    assert answer["Location"] == f"/admin/content/postjob/{job.pk}/change/"
    report = text(client.get(answer["Location"]))
    for words in (
        "Edit 2 posts", "Changed: <strong>2</strong>", "Terms to add", "Tea", "Unpublish at",
        "translator: Please translate this.", "“Undo” restores the previous values",
    ):  # fmt: skip
        assert words in report, words
    stored = [Post.objects.get(pk=post.pk) for post in posts]
    assert [post_repository.load(post).taxonomy_term_ids for post in stored] == [
        (str(term.pk),)
    ] * 2
    # The time is that of the zone of the page.
    assert stored[0].unpublish_at is not None
    assert stored[0].unpublish_at.astimezone().strftime("%H:%M") != until[-5:]
    assert Comment.objects.count() == 2
    # Sent again, as by a second click.
    assert client.post(EDIT, sent)["Location"] == answer["Location"]
    assert Comment.objects.count() == 2
    client.post(answer["Location"], {"action": "undo"})
    assert not Comment.objects.exists()
    stored = [Post.objects.get(pk=post.pk) for post in posts]
    assert [post.unpublish_at for post in stored] == [None, None]


def test_an_error_stands_at_its_field_and_keeps_what_was_typed(signed_in: SignedIn) -> None:
    post = make.post("One", type="testimonial", status="draft")
    client = signed_in("editor")
    form = hidden(choose(client, post))

    nothing = client.post(EDIT, form)
    assert nothing.status_code == 422
    assert "Choose at least one change." in text(nothing)
    page = client.post(
        EDIT,
        {
            **form,
            "change.customFields.rating": "on",
            "customFields.rating": "9",
            "publishAt.do": "set",
            "publishAt": "",
            "body": "Please check",
            "back": "https://example.com/",
        },
    )
    assert page.status_code == 422
    assert "Choose a date and a time." in text(page)
    assert 'value="9"' in text(page)
    assert ">Please check</textarea>" in text(page)
    assert hidden(page)["job"] == form["job"]
    assert hidden(page)["back"] == POSTS
    page = client.post(
        EDIT, {**form, "change.customFields.rating": "on", "customFields.rating": "9"}
    )
    assert page.status_code == 422
    assert re.search(r'id="f-customFields-rating-errors">[^<]*5', text(page))
    assert "Choose a person." in text(client.post(EDIT, {**form, "body": "Please check"}))
    assert not PostJob.objects.exists()


def test_the_page_offers_what_the_posts_have_in_common(signed_in: SignedIn) -> None:
    own = make.post("Quote", type="testimonial", locale="de")
    post = make.post("Post")
    make.term("Tea")
    client = signed_in("editor")

    alone, mixed = text(choose(client, own)), text(choose(client, own, post))

    assert 'name="change.customFields.rating"' in alone
    # Each language has its own quote.
    assert "customFields.quote" not in alone
    assert 'name="terms.do"' not in alone
    assert 'name="terms.do"' in mixed
    assert "customFields" not in mixed
    assert "Select posts of one type to change its own fields." in mixed
    make.site_role("corrector", "posts.view", "posts.edit")
    limited = text(choose(signed_in("corrector"), own))
    assert 'name="publishAt' not in limited
    assert 'name="assignee"' not in limited
    # The list offers it only to people who edit posts.
    translator = text(signed_in("translator").get(POSTS))
    assert 'value="edit"' not in translator
    assert signed_in("translator").post(EDIT, {}).status_code == 403


def test_the_page_takes_the_same_queries_for_any_number_of_posts(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    posts = [make.post(f"Post {number}", status=Status.DRAFT) for number in range(12)]

    def asked(number: int) -> int:
        with CaptureQueriesContext(connection) as found:
            choose(client, *posts[:number])
        return len(found)

    asked(1)
    assert asked(12) == asked(2) == 15
