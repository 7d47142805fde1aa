"""A newer proposal in AI Review over one in Review: if the older one is dropped, the newer one is no conflict."""

from __future__ import annotations

from typing import Any

import pytest

from content.layers import revert_run, submit
from content.layers.reject import reject
from content.models import Layer, Post, QueuedChange
from content.posts.edit import edit_post
from proofroom.core.actor import Actor
from tests import make

pytestmark = pytest.mark.django_db
OLDER, NEWER = "10000000-0000-4000-8000-000000000001", "10000000-0000-4000-8000-000000000002"


def in_review(title: str = "Older", **more: Any) -> Post:
    """Create an agent's proposal submitted to Review unchanged."""
    post = make.post("Live title", excerpt="Live excerpt")
    make.staged(post, {"title": title, **more}, by=make.agent_actor(run_id=OLDER))
    submit(post_id=post.pk, actor=make.actor("editor"))
    return post


def again(post: Post, by: Actor | None = None) -> None:
    make.staged(post, {"title": "Newer"}, by=by or make.agent_actor(run_id=NEWER))


def drop(post: Post) -> None:
    reject(post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("editor"), note="No")


def test_the_newer_proposal_is_no_conflict_when_the_older_is_rejected() -> None:
    post = in_review()
    again(post)

    drop(post)

    ai_review = make.layers(post).ai_review
    assert ai_review.changes.paths == ("post.title",)
    assert ai_review.drifted == frozenset()
    (change,) = ai_review.changes
    assert (change.before, change.after) == ("Live title", "Newer")
    mark = ai_review.marks["post.title"]
    assert (mark.run_id, mark.drifted, mark.conflict) == (NEWER, False, False)
    assert "drifted" not in QueuedChange.objects.get(layer="ai-review").flags
    assert submit(post_id=post.pk, actor=make.actor("editor")).conflicts == ()


def test_nor_when_the_older_run_is_taken_back() -> None:
    post = in_review()
    again(post)

    revert_run(post_id=post.pk, run_id=OLDER, actor=make.actor("admin"))

    layers = make.layers(post)
    assert not layers.review.exists
    assert layers.ai_review.drifted == frozenset()
    assert layers.ai_review.document.fields["title"] == "Newer"


def test_what_a_person_edited_is_missed_when_it_goes() -> None:
    post = in_review()
    make.staged(post, {"title": "Edited"}, layer=Layer.REVIEW)
    again(post)

    drop(post)

    assert make.layers(post).ai_review.drifted == {"post.title"}


def test_other_drift_of_the_same_proposal_stays() -> None:
    post = in_review(excerpt="Older excerpt")
    make.staged(post, {"title": "Newer", "excerpt": "Newer excerpt"})
    make.staged(post, {"excerpt": "By a person"}, layer=Layer.REVIEW)
    assert make.layers(post).ai_review.drifted == {"post.excerpt"}

    reject(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=make.actor("editor"),
        paths=["post.title"],
        note="No",
    )

    assert make.layers(post).ai_review.drifted == {"post.excerpt"}


def test_what_is_proposed_anew_is_no_longer_flagged() -> None:
    post = in_review()
    again(post)
    make.staged(post, {"title": "By a person"}, layer=Layer.REVIEW)
    assert make.layers(post).ai_review.drifted == {"post.title"}

    make.staged(post, {"title": "Newest"}, by=make.agent_actor(run_id=OLDER))

    ai_review = make.layers(post).ai_review
    assert (ai_review.document.fields["title"], ai_review.drifted) == ("Newest", frozenset())
    assert not ai_review.marks["post.title"].drifted


def test_what_had_moved_before_stays_flagged() -> None:
    post = in_review()
    again(post)
    make.staged(post, {"title": "By a person"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Elsewhere"})  # keeps the drift in the mark
    drop(post)

    assert "post.title" in make.layers(post).ai_review.drifted


def test_the_newer_proposal_survives_live_changes_of_the_older() -> None:
    post = in_review()
    again(post)
    edit_post(
        post_id=post.pk,
        actor=make.actor("editor"),
        edit=lambda document: document.with_fields({"title": "Older"}),
    )

    layers = make.layers(post)
    assert not layers.review.exists
    assert layers.ai_review.drifted == frozenset()


def test_submitting_the_newer_takes_the_place_of_the_older() -> None:
    post = in_review()
    again(post)

    done = submit(post_id=post.pk, actor=make.actor("editor"))

    assert (done.submitted, done.conflicts) == (("post.title",), ())
    layers = make.layers(post)
    assert not layers.ai_review.exists
    assert layers.review.document.fields["title"] == "Newer"
    assert layers.review.marks["post.title"].run_id == NEWER


def test_over_what_a_person_edited_the_newer_is_a_second_proposal() -> None:
    post = in_review()
    make.staged(post, {"title": "Edited"}, layer=Layer.REVIEW)
    again(post)

    done = submit(post_id=post.pk, actor=make.actor("editor"))

    assert [conflict.path for conflict in done.conflicts] == ["post.title"]
    assert make.layers(post).review.document.fields["title"] == "Edited"
