"""Submit, revert and provenance: authorship of each change, and its records."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils.dateparse import parse_datetime

from content.document.changes import Change
from content.layers import approve, digest_of, revert_run, submit
from content.models import Layer, Post, Provenance
from content.store.digest import read_digest, was_seen
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from tests import make

pytestmark = pytest.mark.django_db


def approve_all(post: Post) -> None:
    review = make.layers(post).review
    approve(post_id=post.pk, actor=make.actor("admin"), digest=digest_of(review.changes))


def edit(post: Post, **patch: Json) -> None:
    make.edited(post, patch)


def test_what_a_person_staged_differently_stays_and_the_other_is_flagged() -> None:
    post = make.post()
    make.staged(post, {"title": "A person's"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "An agent's", "excerpt": "An agent's"})

    done = submit(post_id=post.pk, actor=make.agent_actor())

    assert done.submitted == ("post.excerpt",)
    conflict = done.conflicts[0]
    assert (conflict.path, conflict.ours, conflict.theirs) == (
        "post.title",
        "A person's",
        "An agent's",
    )
    layers = make.layers(post)
    assert layers.review.document.fields["title"] == "A person's"
    assert layers.review.document.fields["excerpt"] == "An agent's"
    assert layers.ai_review.changes.paths == ("post.title",)
    assert layers.ai_review.marks["post.title"].conflict


def test_a_person_may_overwrite_and_an_agent_may_not() -> None:
    post = make.post()
    make.staged(post, {"title": "A person's"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "An agent's"})

    for by in (make.agent_actor(), make.mcp_actor(), make.mcp_actor("admin")):
        with pytest.raises(NotAllowed):
            submit(post_id=post.pk, actor=by, overwrite=["post.title"])
    assert make.layers(post).review.document.fields["title"] == "A person's"
    submit(post_id=post.pk, actor=make.actor(), overwrite=["post.title"])

    layers = make.layers(post)
    assert layers.review.document.fields["title"] == "An agent's"
    assert not layers.ai_review.exists


def test_the_same_value_on_both_sides_is_no_conflict() -> None:
    post = make.post()
    make.staged(post, {"title": "The same"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Another"})

    done = submit(post_id=post.pk, actor=make.actor())

    assert (done.submitted, done.conflicts) == (("post.excerpt",), ())


def test_a_part_is_submitted_and_the_rest_waits() -> None:
    post = make.post()
    make.staged(post, {"title": "New", "excerpt": "New"})

    submit(post_id=post.pk, actor=make.actor(), paths=["post.title"])

    layers = make.layers(post)
    assert layers.review.changes.paths == ("post.title",)
    assert layers.ai_review.changes.paths == ("post.excerpt",)
    with pytest.raises(RuleViolation) as refusal:
        submit(post_id=post.pk, actor=make.actor(), paths=["post.title"])
    assert refusal.value.code == "unknown_path"


def test_a_run_is_reverted_from_live_and_layers_and_later_edits_stay() -> None:
    post = make.post()
    run = make.agent_actor(run_id="run-1")
    make.staged(post, {"title": "Run", "excerpt": "Run", "metaTitle": "Run"}, by=run)
    submit(post_id=post.pk, actor=make.actor())
    make.staged(post, {"metaTitle": "Run, mended"}, layer=Layer.REVIEW)
    approve_all(post)
    edit(post, excerpt="A person's, later")
    make.staged(post, {"metaDescription": "Run, waiting"}, by=run)
    make.staged(post, {"canonicalUrl": "https://e.example/"}, by=make.agent_actor(run_id="run-2"))

    done = revert_run(post_id=post.pk, run_id="run-1", actor=make.actor())

    found = Post.objects.get()
    assert (found.title, found.excerpt, found.meta_title) == (
        "How to brew filter coffee",
        "A person's, later",
        "Run, mended",
    )
    assert done.reverted == ("post.title",)
    assert set(done.kept) == {"post.excerpt", "post.metaTitle"}
    assert done.unstaged == ("post.metaDescription",)
    assert make.layers(post).ai_review.changes.paths == ("post.canonicalUrl",)
    with pytest.raises(RuleViolation):
        revert_run(post_id=post.pk, run_id="run-9", actor=make.actor())


@pytest.mark.parametrize("by", ["agent", "mcp"])
def test_provenance_says_ai_edited_by_a_person(by: str) -> None:
    post = make.post()
    writer = make.agent_actor(run_id="run-1") if by == "agent" else make.mcp_actor()
    make.staged(post, {"title": "Machine", "excerpt": "Machine"}, by=writer)
    submit(post_id=post.pk, actor=make.actor())
    make.staged(post, {"title": "Machine, mended"}, layer=Layer.REVIEW)
    approve_all(post)

    rows = {
        row.path: row
        for row in Provenance.objects.filter(approved_by_name="admin", revision__version=2)
    }

    title, excerpt = rows["post.title"], rows["post.excerpt"]
    assert title.via == excerpt.via == by
    assert (title.edited_by_name, excerpt.edited_by_name) == ("editor", "")
    assert title.author_name == writer.user.username
    assert title.run_id == ("run-1" if by == "agent" else "")


def test_a_person_who_writes_first_is_the_author() -> None:
    post = make.post()
    make.staged(post, {"title": "A person's"}, layer=Layer.REVIEW)
    written_at = make.layers(post).review.marks["post.title"].at
    approve_all(post)

    row = Provenance.objects.get(revision__version=2)

    assert (row.author_name, row.agent_id, row.via, row.edited_by_name) == ("editor", "", "api", "")
    assert row.written_at == parse_datetime(written_at)


def test_a_digest_holds_hundreds_of_changes() -> None:
    changes = [Change(f"post.customFields.{number}", "changed", 1, number) for number in range(500)]

    seen = read_digest(digest_of(changes))

    assert len(seen) == 500
    assert all(was_seen(seen, change) for change in changes)
    assert not was_seen(seen, replace(changes[7], after=8))


def test_the_rest_of_review_equals_the_stored_rows() -> None:
    post = make.post(status="draft")
    term = str(make.term("Coffee").pk)
    make.staged(
        post,
        {
            "title": "  Trimmed  ",
            "excerpt": None,
            "publishAt": "2099-01-31T08:00:00.123456+02:00",
            "robotsJson": {"index": False},
            "orderIndex": 4,
            "taxonomyTermIds": [term.upper()],
            "metaTitle": "Left",
        },
        layer=Layer.REVIEW,
    )
    review = make.layers(post).review
    taken = [path for path in review.changes.paths if path != "post.metaTitle"]

    approve(post_id=post.pk, actor=make.actor(), digest=digest_of(review.changes), paths=taken)

    layers = make.layers(post)
    draft = layers.review.draft
    assert draft is not None
    assert draft.base == layers.live.to_json()
    assert layers.review.changes.paths == ("post.metaTitle",)
    assert not layers.review.drifted
