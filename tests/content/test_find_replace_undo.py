"""Find and replace: undone by revision."""

from __future__ import annotations

import pytest

from content.models import ReplacedPlace, Revision
from content.posts.edit import edit_post
from content.store import document_edits
from tests import make
from tests.api_client import ApiClient
from tests.content.replacing import URL, send, words_of

pytestmark = pytest.mark.django_db


def test_a_text_node_that_is_emptied_goes_and_comes_back_when_undone() -> None:
    post = make.post(markdown="Keep **drop** keep")
    before = words_of(post)

    done = send("drop", "", "modules")

    assert "drop" not in words_of(post)
    assert make.layers(post).live.modules[1].props != {}
    ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo")
    assert words_of(post) == before


def test_undo_keeps_what_people_wrote_since() -> None:
    post = make.post("Coffee one", excerpt="Coffee two", markdown="Coffee three")
    done = send("Coffee", "Cocoa")
    edit_post(
        post_id=post.pk,
        actor=make.actor("editor"),
        edit=lambda document: document_edits.patch_fields(document, {"excerpt": "Mine"}),
    )

    undone = ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo")

    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("Coffee one", "Mine")
    assert "Coffee three" in words_of(post)
    assert undone == {
        "id": done["id"],
        "restored": 3,
        "keptTotal": 1,
        "kept": [{"table": "posts", "id": str(post.pk), "field": "excerpt"}],
    }
    assert Revision.objects.filter(post=post, reason="find-replace undone").count() == 1
    again = ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo", expect=409)
    assert again["code"] == "already_undone"
    listed = ApiClient("admin").read(URL)["data"][0]
    assert (listed["total"], listed["find"]) == (4, "Coffee")
    assert listed["undoneAt"] is not None
    assert ReplacedPlace.objects.count() == 4
