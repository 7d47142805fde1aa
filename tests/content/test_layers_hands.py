"""Concurrent editors of one post: precedence of changes, and cleanup of drafts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.layers import approve, digest_of, reject, revert_run, revert_to_revision, submit
from content.models import Layer, Post, Provenance
from content.posts.create import propose_post
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post
from content.store import document_edits
from content.store.layer_state import Attribution, find_writers, mark_of
from proofroom.core.errors import Conflict, RuleViolation
from proofroom.core.json import format_time
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db
EDITOR = "editor"


def _added(post: Post, run_id: str = "run-1") -> str:
    """Create a callout added by an agent, now in Review."""
    make.staged_addition(
        post, type="callout", props={"title": "By AI"}, by=make.agent_actor(run_id=run_id)
    )
    submit(post_id=post.pk, actor=make.actor(EDITOR))
    return make.layers(post).review.document.modules[-1].id


def _title(post: Post, id_: str, title: str, **more: Any) -> None:
    make.staged(
        post, edit=lambda d: document_edits.update_module(d, id_, props={"title": title}), **more
    )


def _approve(post: Post, paths: list[str] | None = None) -> None:
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor(EDITOR), digest=digest, paths=paths)


def test_a_persons_words_in_an_added_module_are_not_overwritten_by_a_submit() -> None:
    post = make.post()
    id_ = _added(post)
    _title(post, id_, "By a person", layer=Layer.REVIEW)
    _title(post, id_, "By AI again")

    done = submit(post_id=post.pk, actor=make.actor(EDITOR))

    path = f"modules.{id_}.props.title"
    assert [conflict.path for conflict in done.conflicts] == [path]
    layers = make.layers(post)
    assert layers.review.document.module(id_).props["title"] == "By a person"
    assert layers.ai_review.document.module(id_).props["title"] == "By AI again"


def test_another_prop_of_that_module_is_no_conflict() -> None:
    post = make.post()
    id_ = _added(post)
    _title(post, id_, "By a person", layer=Layer.REVIEW)
    make.staged_module(post, id_, props={"tone": "warning"})

    done = submit(post_id=post.pk, actor=make.actor(EDITOR))

    assert done.conflicts == ()
    props = make.layers(post).review.document.module(id_).props
    assert (props["title"], props["tone"]) == ("By a person", "warning")


def test_provenance_names_both_hands_on_an_added_module() -> None:
    post = make.post()
    id_ = _added(post)
    _title(post, id_, "By a person", layer=Layer.REVIEW)

    _approve(post)

    whole = Provenance.objects.get(post=post, path=f"modules.{id_}")
    part = Provenance.objects.get(post=post, path=f"modules.{id_}.props.title")
    assert (whole.agent_id, whole.edited_by_name) == ("seo-specialist", "")
    assert (part.agent_id, part.edited_by_name) == ("seo-specialist", "editor")


@pytest.mark.parametrize("is_live", [True, False])
def test_reverting_a_run_keeps_a_module_that_a_person_worked_on(is_live: bool) -> None:
    post = make.post()
    id_ = _added(post)
    _title(post, id_, "By a person", layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "By AI"}, by=make.agent_actor(run_id="run-1"))
    if is_live:
        _approve(post)

    done = revert_run(post_id=post.pk, run_id="run-1", actor=make.actor(EDITOR))

    assert done.unstaged == ("post.excerpt",)
    layer = make.layers(post).live if is_live else make.layers(post).review.document
    assert layer.module(id_).props["title"] == "By a person"


def test_reverting_a_run_says_nothing_of_what_others_wrote_in_that_revision() -> None:
    post = make.post()
    make.staged(post, {"title": "By another run"}, by=make.agent_actor(run_id="run-2"))
    make.staged(post, {"excerpt": "By AI"}, by=make.agent_actor(run_id="run-1"))
    submit(post_id=post.pk, actor=make.actor(EDITOR))
    _approve(post)

    done = revert_run(post_id=post.pk, run_id="run-1", actor=make.actor(EDITOR))

    assert (done.reverted, done.kept) == (("post.excerpt",), ())
    assert make.layers(post).live.fields["title"] == "By another run"


def test_what_became_live_by_other_hands_is_no_longer_staged() -> None:
    post = make.post()
    make.staged(post, {"title": "B"})

    make.edited(post, {"title": "B"}, by=make.actor(EDITOR))

    assert post.drafts.get(layer=Layer.AI_REVIEW).is_empty
    make.edited(post, {"title": "C"}, by=make.actor(EDITOR))
    assert not make.layers(post).ai_review.exists


def test_an_approval_settles_the_same_change_in_ai_review() -> None:
    post = make.post()
    make.staged(post, {"title": "Same"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Other"})
    make.staged(post, {"title": "Theirs"})
    make.staged(post, {"title": "Same"})

    _approve(post)

    assert make.layers(post).ai_review.changes.paths == ("post.excerpt",)


def test_a_revision_can_be_restored_without_what_is_gone() -> None:
    term, parent = make.term("Coffee"), make.post("Parent", type="page")
    page = make.post("Page", type="page", status="draft")
    blog = make.post("Blog", status="draft")
    make.staged(page, {"parentId": str(parent.pk)}, layer=Layer.REVIEW)
    make.staged(blog, {"taxonomyTermIds": [str(term.pk)]}, layer=Layer.REVIEW)
    make.staged(
        blog,
        {"publishAt": format_time(timezone.now() + timedelta(hours=1))},
        layer=Layer.REVIEW,
    )
    for post in (page, blog):
        _approve(post)
        make.edited(
            post,
            {"title": "Later", "parentId": None, "publishAt": None, "taxonomyTermIds": []},
            by=make.actor(EDITOR),
        )
    old = {post.pk: post.revisions.get(reason="approved") for post in (page, blog)}
    held = old[blog.pk].document
    held["post"]["publishAt"] = "2020-01-01T00:00:00.000Z"
    old[blog.pk].save()
    delete_post(post_id=parent.pk, actor=make.actor("admin"))
    term.delete()

    for post in (page, blog):
        revert_to_revision(
            post_id=post.pk, revision_id=old[post.pk].pk, actor=make.actor(EDITOR), note="Back"
        )

    assert make.layers(page).live.fields["title"] == "Page"
    assert make.layers(blog).live.fields["title"] == "Blog"
    newest = blog.revisions.order_by("-version").first()
    assert newest is not None
    assert newest.note == "Back (left out: publishAt, taxonomyTermIds)"


def test_one_post_that_cannot_be_published_does_not_keep_the_others_waiting() -> None:
    past = timezone.now() - timedelta(minutes=1)
    blocked = propose_post(actor=make.agent_actor(), type="blog", fields={"title": "X"}).post
    due = make.post("Due", status="draft")
    Post.objects.filter(pk__in=[blocked.pk, due.pk]).update(publish_at=past)

    assert run_due_dates(make.actor("admin", via="system")) == 1

    due.refresh_from_db()
    blocked.refresh_from_db()
    assert (due.status, blocked.status) == ("published", "draft")


def test_a_placeholder_takes_no_schedule() -> None:
    post = propose_post(actor=make.agent_actor(), type="blog", fields={"title": "X"}).post

    with pytest.raises(RuleViolation) as error:
        make.edited(post, {"publishAt": "2099-01-01T00:00:00Z"}, by=make.actor("admin"))

    assert list(error.value.details) == ["publishAt"]


@pytest.mark.parametrize("value", [10**400, 2**60, 1e308, [{"deep": -(2**54)}]])
def test_a_number_that_cannot_be_read_back_is_refused(value: Any) -> None:
    with pytest.raises(RuleViolation) as error:
        make.staged(make.post(), {"jsonldOverrides": {"a": value}})

    assert list(error.value.details) == ["jsonldOverrides"]


@pytest.mark.parametrize("value", ["9999-12-31T23:59:59-23:00", "9500-01-01T00:00:00Z"])
def test_a_time_beyond_the_calendar_is_refused(value: str) -> None:
    with pytest.raises(RuleViolation) as error:
        make.staged(make.post(), {"publishAt": value}, layer=Layer.REVIEW)

    assert list(error.value.details) == ["publishAt"]


def test_an_added_module_that_moved_since_it_was_seen_is_not_approved() -> None:
    post = make.post()
    id_ = _added(post)
    digest = digest_of(make.layers(post).review.changes)
    make.staged_module(post, id_, index=1, layer=Layer.REVIEW)

    with pytest.raises(Conflict):
        approve(post_id=post.pk, actor=make.actor(EDITOR), digest=digest)


def test_a_rejection_under_an_old_digest_drops_nothing() -> None:
    post = make.post()
    make.staged(post, {"title": "Seen"}, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    make.staged(post, {"metaTitle": "Unseen"}, layer=Layer.REVIEW)

    with pytest.raises(Conflict) as error:
        reject(post_id=post.pk, layer=Layer.REVIEW, actor=make.actor(EDITOR), digest=digest)

    assert error.value.code == "stale_review"
    assert len(make.layers(post).review.changes) == 2


def test_a_position_that_nobody_marked_is_the_latest_orders() -> None:
    """A later order below may displace other modules than the staged ones."""
    earlier, later = (
        replace(Attribution.of(make.agent_actor()), at=f"2026-01-0{day}") for day in (1, 2)
    )
    marks = {"modules.a.position": earlier, "modules.b.position": later, "post.title": earlier}

    assert mark_of(marks, "modules.c.position") == later
    assert mark_of(marks, "modules.a.position") == earlier
    assert mark_of({**marks, "modules.c": earlier}, "modules.c.position") == earlier
    assert mark_of(marks, "modules.c.props.title") is None
    assert mark_of({"post.title": later}, "modules.c.position") is None


def test_hands_on_parts_of_an_added_module_stay_known_whatever_is_staged_next() -> None:
    post = make.post()
    id_ = _added(post)
    _title(post, id_, "By a person", layer=Layer.REVIEW)
    path = f"modules.{id_}.props.title"

    make.staged(post, {"excerpt": "Another thing"}, layer=Layer.REVIEW)

    marks = make.layers(post).review.marks
    assert marks[f"modules.{id_}"].is_agents
    assert (path in marks, marks[path].is_agents) == (True, False)
    assert {mark.is_agents for mark in find_writers(marks, f"modules.{id_}")} == {True, False}
    # A change that is no longer staged has no mark.
    reject(post_id=post.pk, layer=Layer.REVIEW, paths=[f"modules.{id_}"], actor=make.actor(EDITOR))
    assert not [known for known in make.layers(post).review.marks if id_ in known]


def test_a_submit_says_what_it_handed_on_and_nothing_where_it_took_nothing() -> None:
    post = make.post()
    make.staged(post, {"title": "By AI", "excerpt": "Stays"}, by=make.agent_actor())
    editor = make.actor(EDITOR)
    name = "post.ai-review.approve"

    done = submit(post_id=post.pk, paths=["post.title"], note="Looks good", actor=editor)

    event = Event.objects.get(name=name)
    assert (event.post_id, event.actor_id) == (post.pk, editor.user.pk)
    said = {key: event.payload[key] for key in ("paths", "note", "version")}
    assert said == {"paths": ["post.title"], "note": "Looks good", "version": done.review_version}
    assert done.review_version == make.layers(post).review.version == 1

    make.staged(post, {"excerpt": "By a person"}, layer=Layer.REVIEW)
    before = make.layers(post).review.version
    held = submit(post_id=post.pk, actor=editor)
    assert [conflict.path for conflict in held.conflicts] == ["post.excerpt"]
    assert (held.review_version, Event.objects.filter(name=name).count()) == (before, 1)
