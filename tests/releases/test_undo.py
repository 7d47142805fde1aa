"""The undo of a release: what went live waits again."""

from __future__ import annotations

import pytest

from content.layers import digest_of as digest
from content.models import Draft, Layer, Post
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient
from tests.releases.scenes import add, add_changes, changed_post, create, items, publish, undo

pytestmark = pytest.mark.django_db


def waiting(post: Post) -> dict[str, object]:
    """Return the values that wait in Review, by path."""
    rows = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")["changes"]
    return {row["path"]: row["after"] for row in rows}


def test_undone_changes_wait_in_review_again_with_their_authors() -> None:
    post = make.post("Coffee", slug="coffee")
    make.staged(post, {"title": "By another"}, layer=Layer.REVIEW, by=make.actor("admin"))
    make.staged(post, {"slug": "kaffee", "excerpt": "Left out"}, layer=Layer.REVIEW)
    module = make.module_id(post, "prose")
    make.staged_module(post, module, layer=Layer.REVIEW, content_markdown="New words.")
    before = waiting(post)
    release = create()
    add_changes(release, post, *[path for path in before if path != "post.excerpt"])
    publish(release)
    assert [*waiting(post)] == ["post.excerpt"]

    undo(release)

    assert waiting(post) == before
    view = make.layers(post).review
    assert view.marks["post.title"].user_id == make.user("admin").pk
    assert (items(release)[0]["conflict"], digest(view.changes) != "") == (None, True)
    event = Event.objects.get(name="release.undone")
    assert event.payload["notStagedAgain"] == 0
    # They can go live again.
    again = create("Again")
    add_changes(again, post)
    publish(again)
    assert Post.objects.get(pk=post.pk).slug == "kaffee"
    assert not Draft.objects.filter(post=post, is_empty=False).exists()


def test_what_was_staged_meanwhile_stays_and_is_named() -> None:
    post = changed_post("Released", excerpt="Released")
    release = create()
    add_changes(release, post)
    publish(release)
    make.staged(post, {"title": "Meanwhile"}, layer=Layer.REVIEW)

    undo(release)

    assert waiting(post) == {"post.title": "Meanwhile", "post.excerpt": "Released"}
    assert items(release)[0]["conflict"] == {
        "message": "Not staged again in Review, because other changes wait there: Title."
    }
    assert Event.objects.get(name="release.undone").payload["notStagedAgain"] == 1


def test_a_post_that_went_live_with_its_changes_is_a_draft_with_them_again() -> None:
    draft = make.post("Draft", slug="draft", status="draft")
    make.staged(draft, {"title": "Final"}, layer=Layer.REVIEW)
    release = create()
    add(release, "post", draft.pk)
    add_changes(release, draft)
    publish(release)

    undo(release)

    assert waiting(draft) == {"post.title": "Final"}
    again = create("Again")
    add(again, "post", draft.pk)
    add_changes(again, draft)
    publish(again)
    assert Post.objects.get(pk=draft.pk).title == "Final"
