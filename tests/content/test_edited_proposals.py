"""Edited proposals: what an agent proposed is stored with what a person accepted instead."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from content.comparison.change_comparison import passages_at
from content.inbox.rejections import undo_rejections
from content.layers import approve, digest_of, reject, submit
from content.layers.edited_proposals import accepted_after_edit, accepted_value, proposed_value
from content.migration_operations import ChangeModule, Drop, Rename
from content.models import EditedProposal, Layer, Post
from content.models.edited_proposal import EDITED_PROPOSALS_KEPT
from content.posts.decide import decide
from content.tasks import purge_trash
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.content.migrating import carry_over

pytestmark = pytest.mark.django_db
RUN = "run-1"


def proposed(
    title: str = "Old", *, edited: str = "By a person", layer: Layer = Layer.REVIEW
) -> Post:
    """Return a post whose title an agent proposed and a person then edited in a layer."""
    post = make.post(title)
    make.staged(post, {"title": "By an agent"}, by=make.agent_actor(run_id=RUN))
    if layer == Layer.REVIEW:
        submit(post_id=post.pk, actor=make.actor("editor"))
    edit(post, edited, layer=layer)
    return post


def edit(post: Post, title: str, *, layer: Layer = Layer.REVIEW, role: str = "editor") -> None:
    make.staged(post, {"title": title}, layer=layer, by=make.actor(role))


def accept(post: Post, *paths: str) -> None:
    review = make.layers(post).review
    approve(
        post_id=post.pk,
        actor=make.actor("admin"),
        digest=digest_of(review.changes),
        paths=paths or None,
    )


def values(row: EditedProposal) -> tuple[object, object]:
    return proposed_value(row), accepted_value(row)


def test_an_accepted_edit_stores_both_values_and_the_people() -> None:
    post = proposed()
    [row] = EditedProposal.objects.all()
    assert (row.path, values(row), row.decided_at) == (
        "post.title",
        ("By an agent", None),
        None,
    )

    accept(post)

    [row] = accepted_after_edit()
    assert values(row) == ("By an agent", "By a person")
    assert (row.agent_id, row.run_id, row.via) == ("seo-specialist", RUN, "agent")
    editor, admin = make.user("editor"), make.user("admin")
    assert (row.edited_by, row.edited_by_name) == (editor, editor.username)
    assert (row.decided_by, row.decided_by_name) == (admin, admin.username)
    assert row.decided_at is not None


def test_the_first_proposed_value_stays_through_several_edits() -> None:
    post = proposed()
    edit(post, "By another", role="admin")
    accept(post)
    [row] = EditedProposal.objects.all()
    assert values(row) == ("By an agent", "By another")
    assert row.edited_by == make.user("admin")


def test_an_edit_in_ai_review_is_recorded_when_the_change_goes_live_from_there() -> None:
    post = proposed(layer=Layer.AI_REVIEW)
    view = make.layers(post).ai_review
    decide(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=make.actor("admin", via="admin"),
        digest=digest_of(view.changes),
        accept=["post.title"],
        refuse=[],
        publishes=True,
    )
    [row] = accepted_after_edit()
    assert values(row) == ("By an agent", "By a person")


def test_a_value_that_is_edited_back_is_accepted_as_proposed() -> None:
    post = proposed()
    edit(post, "By an agent")
    accept(post)
    assert not accepted_after_edit().exists()
    assert EditedProposal.objects.get().decided_at is not None


def test_proposals_that_nobody_edited_and_changes_of_people_are_not_recorded() -> None:
    post = make.post("Old")
    make.staged(post, {"title": "By an agent"})
    submit(post_id=post.pk, actor=make.actor("editor"))
    make.staged(post, {"excerpt": "Mine"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Mine, again"}, layer=Layer.REVIEW)
    accept(post)
    assert not EditedProposal.objects.exists()


def test_a_rejected_edit_is_no_acceptance_until_the_rejection_is_undone() -> None:
    post = proposed()
    rejection = reject(
        post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("editor"), note="No"
    ).rejection
    row = EditedProposal.objects.get()
    assert (row.rejection, values(row)) == (rejection, ("By an agent", None))
    assert not accepted_after_edit().exists()

    undo_rejections(post_id=post.pk, rejections=[rejection], actor=make.actor("editor"))
    accept(post)
    [row] = accepted_after_edit()
    assert (row.rejection, values(row)) == (None, ("By an agent", "By a person"))


def test_a_later_proposal_at_the_path_does_not_take_the_record_of_the_earlier() -> None:
    post = proposed(layer=Layer.AI_REVIEW)
    make.staged(post, {"title": "By an agent, again"}, by=make.agent_actor(run_id="run-2"))
    submit(post_id=post.pk, actor=make.actor("editor"))
    accept(post)
    assert not accepted_after_edit().exists()
    [row] = EditedProposal.objects.all()
    assert (row.run_id, row.decided_at) == (RUN, None)


def test_edits_inside_an_added_module_are_recorded_at_their_own_path() -> None:
    post = make.post("Old")
    make.staged_addition(post, type="callout", props={"title": "By an agent"})
    submit(post_id=post.pk, actor=make.actor("editor"))
    module = next(
        one.id for one in make.layers(post).review.document.modules if one.type == "callout"
    )
    make.staged_module(post, module, layer=Layer.REVIEW, props={"title": "By a person"})
    accept(post)
    [row] = accepted_after_edit()
    assert row.path == f"modules.{module}.props.title"
    assert values(row) == ("By an agent", "By a person")


def test_passages_accepted_one_after_the_other_are_two_decisions() -> None:
    before = "One comes first.\n\nTwo stays.\n\nThree comes last."
    post = make.post(markdown=before)
    prose = make.module_id(post, "prose")
    path = f"modules.{prose}.props.content"
    by_agent = before.replace("first", "at the start").replace("last", "at the end")
    make.staged_module(post, prose, content_markdown=by_agent)
    submit(post_id=post.pk, actor=make.actor("editor"))
    by_person = by_agent.replace("One", "This one")
    make.staged_module(post, prose, layer=Layer.REVIEW, content_markdown=by_person)
    view = make.layers(post).review
    [change] = view.changes
    passage = passages_at(change, view.below, view.document)[0]

    accept(post, f"{path}#{passage}")
    accept(post)

    first, second = accepted_after_edit().order_by("pk")
    for row in (first, second):
        assert row.path == path
        assert proposed_value(row) == from_markdown(by_agent)
    assert accepted_value(first) != from_markdown(by_person)
    assert accepted_value(second) == from_markdown(by_person)


def test_records_follow_content_migrations() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    make.staged_module(post, hero, props={"title": "By an agent", "subtitle": "Theirs"})
    submit(post_id=post.pk, actor=make.actor("editor"))
    make.staged_module(
        post, hero, layer=Layer.REVIEW, props={"title": "By a person", "subtitle": "Ours"}
    )
    accept(post)

    changed = carry_over(ChangeModule("hero", Rename("title", "headline"), Drop("subtitle")))

    assert changed["edited proposals"] == 2
    [row] = EditedProposal.objects.all()
    assert row.path == f"modules.{hero}.props.headline"
    assert values(row) == ("By an agent", "By a person")


def test_old_records_are_deleted_and_those_of_a_purged_post_too() -> None:
    accept(proposed())
    old = EditedProposal.objects.get()
    accept(proposed("Other"))
    EditedProposal.objects.filter(pk=old.pk).update(
        created_at=timezone.now() - EDITED_PROPOSALS_KEPT - timedelta(days=1)
    )
    purge_trash()
    [row] = EditedProposal.objects.all()
    assert row.pk != old.pk
    row.post.delete()
    assert not EditedProposal.objects.exists()


def test_a_value_that_is_too_large_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("content.layers.edited_proposals.MAX_VALUE_BYTES", 40)
    post = proposed(edited="A person wrote a title that is longer than that")
    accept(post)
    [row] = accepted_after_edit()
    assert values(row) == ("By an agent", None)
