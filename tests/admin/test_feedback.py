"""Feedback in the admin."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from content.posts.trash import delete_post
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import create_feedback
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_feedback/feedback/"


def note(content: str = "A typo", **values: str) -> Feedback:
    post_id = values.pop("post_id", "") or str(make.post().pk)
    return create_feedback(
        post_id=post_id, content=content, actor=make.actor("translator"), **values
    )


def test_feedback_is_found_resolved_and_deleted(signed_in: SignedIn) -> None:
    row = note()
    note("A wish", post_id=str(row.post_id), category="feature")
    client = signed_in()

    bugs = client.get(f"{LIST}?category__exact=feature").content.decode()
    assert "A wish" in bugs
    assert "A typo" not in bugs
    given = {"status": "resolved", "category": "copy"}
    assert client.post(f"{LIST}{row.pk}/change/", given).status_code == 302
    row.refresh_from_db()
    assert (row.status, row.category, row.resolved_by) == (
        "resolved",
        "copy",
        make.user("editor"),
    )
    assert "Resolved by editor" in client.get(f"{LIST}{row.pk}/change/").content.decode()
    client.get(f"{LIST}{row.pk}/delete/")
    assert Feedback.objects.count() == 2
    client.post(f"{LIST}{row.pk}/delete/")
    assert Feedback.objects.get().content == "A wish"


def test_what_is_no_status_is_refused(signed_in: SignedIn) -> None:
    row = note()

    page = signed_in().post(f"{LIST}{row.pk}/change/", {"status": "done", "category": "bug"})

    assert page.status_code == 422
    row.refresh_from_db()
    assert (row.status, row.category) == ("pending", "comment")


def test_threat_31_the_words_of_feedback_are_text(signed_in: SignedIn) -> None:
    evil = "<img src=x onerror=alert(1)>"
    row = note(evil, element_selector=evil)

    for address in (LIST, f"{LIST}{row.pk}/change/"):
        page = signed_in().get(address).content.decode()
        assert "<img src=x" not in page
        assert "&lt;img src=x" in page


def test_feedback_of_a_deleted_post_is_not_there(signed_in: SignedIn) -> None:
    row = note()
    delete_post(post_id=row.post_id, actor=make.actor("admin"))
    client = signed_in()

    assert "A typo" not in client.get(LIST).content.decode()
    for address in (f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/delete/", f"{LIST}x/change/"):
        assert client.get(address).status_code == 404
    assert client.post(f"{LIST}{row.pk}/delete/").status_code == 404
    assert Feedback.objects.count() == 1


def test_the_list_takes_as_many_queries_for_many_rows(signed_in: SignedIn) -> None:
    client, row = signed_in(), note()
    client.get(LIST)

    def count() -> int:
        return count_queries(client.get, LIST)

    before = count()
    make.copies(row, 20)
    assert count() == before
