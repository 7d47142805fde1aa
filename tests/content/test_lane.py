"""Invariants of the three layers. Each test is named after its invariant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from content.layers import (
    approve,
    digest_of,
    open_layers,
    reject,
    revert_run,
    revert_to_revision,
    submit,
)
from content.layers.live import write_live
from content.models import Layer, ModuleInstance, Post, PostTerm, Provenance, Revision
from content.posts.create import propose_post
from content.posts.edit import edit_post
from content.posts.trash import delete_post
from content.store import document_edits, post_repository
from proofroom.accounts.models import User
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.json import format_time
from tests import make

pytestmark = pytest.mark.django_db


def approve_all(post: Post, paths: list[str] | None = None) -> None:
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest, paths=paths)


def add_callout(title: str = "Try it") -> Any:
    return lambda document: document_edits.add_module(
        document, type="callout", props={"title": title}
    )[0]


def test_lane_01_a_module_added_by_an_agent_is_not_live_after_submit() -> None:
    post = make.post()
    before = make.live_hash()
    make.staged(post, edit=add_callout())

    submit(post_id=post.pk, actor=make.actor("editor"))

    assert make.live_hash() == before
    assert [module.type for module in make.layers(post).live.modules] == ["hero", "prose", "faq"]
    assert [module.type for module in make.layers(post).review.document.modules][-1] == "callout"


def test_lane_02_a_module_removed_in_a_draft_stays_live_until_approval() -> None:
    post = make.post()
    faq = make.module_id(post, "faq")
    make.staged(post, edit=lambda document: document_edits.remove_module(document, faq))
    submit(post_id=post.pk, actor=make.actor("editor"))

    assert make.layers(post).live.module(faq) is not None
    approve_all(post)

    assert make.layers(post).live.module(faq) is None


def test_lane_03_overrides_of_a_global_module_survive_submit_and_approve_and_touch_no_other_post() -> (
    None
):
    shared = make.global_module()
    one, other = make.post("One"), make.post("Other")
    place = lambda document: document_edits.add_module(  # noqa: E731
        document, type="callout", shared=("newsletter", str(shared.pk))
    )[0]
    for post in (one, other):
        edit_post(post_id=post.pk, actor=make.actor("editor"), edit=place)
    id_ = make.module_id(one, "callout")
    make.staged_module(one, id_, overrides={"title": "Mine"})

    submit(post_id=one.pk, actor=make.actor("editor"))
    assert make.layers(one).review.document.module(id_).overrides == {"title": "Mine"}
    approve_all(one)

    assert make.layers(one).live.module(id_).overrides == {"title": "Mine"}
    assert ModuleInstance.objects.get(pk=shared.pk).props["title"] == "Subscribe"
    other_id = make.module_id(other, "callout")
    assert make.layers(other).live.module(other_id).overrides == {}


def test_lane_04_a_draft_that_says_nothing_of_terms_keeps_them() -> None:
    post = make.post()
    term = make.term("Coffee")
    edit_post(
        post_id=post.pk, actor=make.actor("editor"), edit=lambda d: d.with_terms([str(term.pk)])
    )
    make.staged(post, {"title": "New title"})
    submit(post_id=post.pk, actor=make.actor("editor"))

    approve_all(post)

    assert list(PostTerm.objects.filter(post=post).values_list("term_id", flat=True)) == [term.pk]


def test_lane_05_approving_review_leaves_modules_that_wait_in_ai_review() -> None:
    post = make.post()
    make.staged(post, {"title": "Human title"}, layer=Layer.REVIEW)
    make.staged(post, edit=add_callout("From the agent"))

    approve_all(post)

    layers = make.layers(post)
    assert layers.live.fields["title"] == "Human title"
    assert [module.type for module in layers.live.modules] == ["hero", "prose", "faq"]
    assert [change.kind for change in layers.ai_review.changes] == ["added"]


def test_lane_06_parent_order_schedule_custom_field_and_image_reach_live() -> None:
    from datetime import timedelta

    from django.utils import timezone

    from media.models import Asset

    asset = Asset.objects.create(filename="a.png", file="a.png", size=1, mime="image/png")
    parent = make.post("Parent", type="page")
    page = make.post("Child", type="page", status="draft")
    profile = make.post("Somebody", type="profile")
    later = format_time(timezone.now() + timedelta(days=2))
    fields = {
        "parentId": str(parent.pk),
        "orderIndex": 7,
        "publishAt": later,
        "featuredMediaId": str(asset.pk),
    }
    make.staged(page, fields, layer=Layer.REVIEW)
    make.staged(profile, {"customFields": {"role": "Editor"}}, layer=Layer.REVIEW)

    approve_all(page)
    approve_all(profile)

    live = make.layers(page).live.fields
    assert {name: live[name] for name in fields} == fields
    assert make.layers(profile).live.custom_fields["role"] == "Editor"
    assert Post.objects.get(pk=page.pk).path == "/parent/child"


def test_lane_07_a_staged_reorder_is_one_move_and_reaches_live() -> None:
    post = make.post()
    hero, prose, faq = make.layers(post).live.order
    make.staged(
        post, edit=lambda document: document_edits.reorder_modules(document, [hero, faq, prose])
    )

    changes = make.layers(post).ai_review.changes
    assert [change.kind for change in changes] == ["moved"]
    submit(post_id=post.pk, actor=make.actor("editor"))
    approve_all(post)

    assert make.layers(post).live.order == (hero, faq, prose)


def test_lane_08_the_live_document_holds_nothing_unapproved() -> None:
    post = make.post()
    make.staged(post, {"title": "Staged title"}, edit=None)
    make.staged(post, edit=add_callout("Staged module"))
    submit(post_id=post.pk, actor=make.actor("editor"), paths=["post.title"])

    text = str(post_repository.load(Post.objects.get(pk=post.pk)).to_json())

    assert "Staged" not in text


def test_lane_09_a_live_edit_made_after_staging_is_not_silently_reverted() -> None:
    post = make.post(excerpt="Old excerpt")
    make.staged(post, {"title": "Staged title"}, layer=Layer.REVIEW)
    make.edited(post, {"excerpt": "Live excerpt", "title": "Live title"}, by=make.actor("admin"))

    review = make.layers(post).review
    assert review.changes.paths == ("post.title",)
    assert review.drifted == {"post.title"}
    assert review.changes.items[0].before == "Live title"
    approve_all(post)

    live = make.layers(post).live.fields
    assert (live["title"], live["excerpt"]) == ("Staged title", "Live excerpt")


def test_lane_10_a_second_run_and_a_second_call_build_on_the_first() -> None:
    post = make.post()
    make.staged(post, {"title": "From run one"}, by=make.agent_actor(run_id="run-1"))
    make.staged(post, {"excerpt": "From run two"}, by=make.agent_actor(run_id="run-2"))
    make.staged(post, edit=add_callout(), by=make.agent_actor(run_id="run-2"))

    view = make.layers(post).ai_review
    assert [view.marks[path].run_id for path in view.changes.paths] == ["run-1", "run-2", "run-2"]
    assert view.document.fields["title"] == "From run one"


def test_lane_11_rejecting_leaves_global_modules_and_no_orphans() -> None:
    shared = make.global_module()
    post = make.post()
    make.staged_addition(post, type="callout", shared=("newsletter", str(shared.pk)))
    make.staged(post, edit=add_callout())
    before = make.live_hash()

    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="no")

    assert make.live_hash() == before
    assert not make.layers(post).ai_review.exists
    assert ModuleInstance.objects.filter(placements__isnull=True).get() == shared


def test_lane_13_an_approval_that_fails_half_way_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post = make.post()
    make.staged(post, {"title": "New"}, layer=Layer.REVIEW)
    make.staged(post, edit=add_callout(), layer=Layer.REVIEW)
    before, revisions = make.live_hash(), Revision.objects.count()
    monkeypatch.setattr(
        "content.layers.live.provenance_rows",
        lambda *_: (_ for _ in ()).throw(RuntimeError("crash")),
    )

    with pytest.raises(RuntimeError):
        approve_all(post)

    assert (make.live_hash(), Revision.objects.count()) == (before, revisions)
    assert make.layers(post).review.changes.paths[0] == "post.title"


@pytest.mark.parametrize("role", ["admin", "editor", "ai_agent"])
@pytest.mark.parametrize("via", ["mcp", "agent"])
def test_lane_14_no_agent_or_ai_client_writes_live_or_review(role: str, via: Any) -> None:
    post = make.post()
    make.staged(post, {"title": "Waiting"}, layer=Layer.REVIEW)
    by = make.actor(role, via=via)
    before = make.live_hash()
    digest = digest_of(make.layers(post).review.changes)
    revision = post.revisions.first()
    assert revision is not None
    attempts = [
        lambda: make.staged(post, {"title": "x"}, layer=Layer.REVIEW, by=by),
        lambda: edit_post(post_id=post.pk, actor=by, edit=lambda d: d, status="archived"),
        lambda: approve(post_id=post.pk, actor=by, digest=digest),
        lambda: reject(post_id=post.pk, layer=Layer.REVIEW, actor=by),
        lambda: delete_post(post_id=post.pk, actor=by),
        lambda: revert_to_revision(post_id=post.pk, revision_id=revision.pk, actor=by),
        lambda: revert_run(post_id=post.pk, run_id="r", actor=by),
        lambda: submit(post_id=post.pk, actor=by, overwrite=["post.title"]),
        lambda: write_live(
            post=post,
            before=make.layers(post).live,
            after=replace(make.layers(post).live, fields={"title": "x"}),
            actor=by,
            reason="edited",
        ),
    ]

    for attempt in attempts:
        with pytest.raises(NotAllowed):
            attempt()

    assert make.live_hash() == before
    assert make.layers(post).review.document.fields["title"] == "Waiting"


@pytest.mark.parametrize(
    "key", ["status", "mode", "layer", "publishAt", "author", "parentId", "orderIndex", "version2"]
)
def test_lane_14_no_key_of_a_patch_reaches_past_the_lane(key: str) -> None:
    post = make.post()
    before = make.live_hash()
    value: Any = {"publishAt": "2099-01-01T00:00:00Z", "orderIndex": 3}.get(key, "x")

    if key == "author":
        assert make.staged(post, {key: value}).paths == ()
    else:
        with pytest.raises(RuleViolation):
            make.staged(post, {key: value})

    assert make.live_hash() == before
    assert not make.layers(post).ai_review.exists


def test_lane_16_the_second_of_two_approvals_is_refused() -> None:
    post = make.post()
    make.staged(post, {"title": "New"}, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest)

    with pytest.raises(Conflict) as error:
        approve(post_id=post.pk, actor=make.actor("admin"), digest=digest)

    assert error.value.code == "stale_review"
    assert post.revisions.filter(reason="approved").count() == 1


def test_lane_16_an_approval_of_what_a_live_edit_moved_is_refused() -> None:
    post = make.post(excerpt="Old")
    make.staged(post, {"title": "Staged", "excerpt": "Staged"}, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    make.edited(post, {"title": "Live edit"}, by=make.actor("admin"))

    with pytest.raises(Conflict) as error:
        approve(post_id=post.pk, actor=make.actor("editor"), digest=digest)
    assert (error.value.code, list(error.value.details)) == ("stale_review", ["post.title"])
    assert make.layers(post).live.fields["title"] == "Live edit"

    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest, paths=["post.excerpt"])

    assert make.layers(post).live.fields["excerpt"] == "Staged"
    assert make.layers(post).review.changes.paths == ("post.title",)


def test_lane_17_a_draft_with_an_outlived_definition_still_opens_and_can_be_approved_in_part() -> (
    None
):
    post = make.post()
    make.staged(post, {"title": "New"}, layer=Layer.REVIEW)
    make.staged(post, edit=add_callout(), layer=Layer.REVIEW)
    draft = post.drafts.get(layer=Layer.REVIEW)
    for document in (draft.base, draft.document):
        document["modules"][1]["type"] = "gone"
        document["modules"][1]["props"] = {"formerly": "here"}
    draft.document["modules"][1]["props"] = {"formerly": "changed"}
    draft.save()
    ModuleInstance.objects.filter(placements__post=post, type="prose").update(
        type="gone", props={"formerly": "here"}
    )

    paths = make.layers(post).review.changes.paths
    gone = next(path for path in paths if path.endswith("props.formerly"))
    approve_all(post, ["post.title"])
    with pytest.raises(RuleViolation) as error:
        approve_all(post, [gone])
    assert error.value.code == "unknown_module"
    reject(post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("editor"), paths=[gone])

    assert make.layers(post).live.fields["title"] == "New"
    assert [change.kind for change in make.layers(post).review.changes] == ["added"]


def test_lane_18_restoring_a_revision_leaves_status_drafts_and_translations() -> None:
    post = make.post(status="draft")
    first = post.revisions.get()
    german = make.post("Filterkaffee", locale="de", translation_of=post)
    delete_post(post_id=german.pk, actor=make.actor("admin"))
    make.edited(post, {"title": "Second"})
    make.staged(post, {"excerpt": "Staged"})

    revert_to_revision(post_id=post.pk, revision_id=first.pk, actor=make.actor("editor"))

    post.refresh_from_db()
    assert (post.title, post.status) == ("How to brew filter coffee", "draft")
    assert make.layers(post).ai_review.changes.paths == ("post.excerpt",)
    assert Post.objects.alive().filter(translation_group=post.translation_group).get() == post


def test_lane_18_a_revision_of_another_post_is_not_found() -> None:
    post, other = make.post("One"), make.post("Other")
    foreign = other.revisions.get()

    with pytest.raises(NotFound):
        revert_to_revision(post_id=post.pk, revision_id=foreign.pk, actor=make.actor("editor"))


def test_lane_19_approving_one_locale_leaves_the_other() -> None:
    post = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=post)
    for each in (post, german):
        make.staged(each, {"excerpt": "Staged"}, layer=Layer.REVIEW)

    approve_all(post)

    assert make.layers(german).live.fields["excerpt"] == ""
    assert make.layers(german).review.changes.paths == ("post.excerpt",)


def test_lane_20_deleting_an_account_keeps_posts_revisions_and_names() -> None:
    post = make.post()
    make.staged(post, {"title": "By the agent"}, by=make.agent_actor(run_id="run-9"))
    submit(post_id=post.pk, actor=make.actor("editor"))
    approve_all(post)

    User.objects.all().delete()

    row = Provenance.objects.get(post=post, path="post.title", agent_id="seo-specialist")
    assert (row.run_id, row.author_name, row.approved_by_name) == (
        "run-9",
        "agent:seo-specialist",
        "editor",
    )
    assert Post.objects.filter(pk=post.pk).exists()
    assert Revision.objects.get(post=post, reason="approved").by_name == "editor"


def test_lane_21_a_post_made_by_an_agent_shows_nothing_of_itself_before_approval() -> None:
    proposed = propose_post(
        actor=make.agent_actor(),
        type="blog",
        fields={"title": "Secret plans", "slug": "secret-plans"},
    )
    post = proposed.post
    live = str(make.layers(post).live.to_json())
    assert "ecret" not in live
    assert (post.status, post.is_placeholder, "ecret" in post.path) == ("draft", True, False)
    with pytest.raises(RuleViolation) as error:
        edit_post(post_id=post.pk, actor=make.actor("admin"), status="published")
    assert error.value.code == "not_approved"

    submit(post_id=post.pk, actor=make.actor("editor"))
    approve_all(post, ["post.slug"])
    with pytest.raises(RuleViolation):
        edit_post(post_id=post.pk, actor=make.actor("admin"), status="published")
    approve_all(post)

    post.refresh_from_db()
    assert (post.title, post.slug, post.status, post.is_placeholder) == (
        "Secret plans",
        "secret-plans",
        "draft",
        False,
    )
    assert post.path == "/blog/secret-plans"
    assert [module.type for module in open_layers(post).live.modules] == ["hero", "prose", "faq"]
