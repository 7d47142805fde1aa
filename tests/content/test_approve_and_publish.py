"""Approve and publish: from either layer to the live site, in one transaction, with all needed permissions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from content.comparison.change_comparison import passages_at
from content.layers import approve, digest_of
from content.models import Layer, Post, Revision, Status
from content.posts.decide import LayerOutcome, decide
from content.posts.publish import set_status
from content.posts.variations import create_variation
from content.store.publish_permissions import APPROVE_AND_PUBLISH
from proofroom.accounts.roles import GRANTS
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db


def publish(
    post: Post,
    *accept: str,
    layer: Layer = Layer.AI_REVIEW,
    by: Actor | None = None,
    refuse: tuple[str, ...] = (),
    digest: str = "",
) -> LayerOutcome:
    return decide(
        post_id=post.pk,
        layer=layer,
        actor=by or make.actor("editor", "admin"),
        digest=digest or digest_of(make.layers(post).view(layer).changes),
        accept=accept,
        refuse=refuse,
        note="",
        publishes=True,
    )


def state(post: Post) -> tuple[str, str, object, object, int]:
    layers = make.layers(post)
    return (
        make.live_hash(),
        Post.objects.get(pk=post.pk).status,
        layers.review.document,
        layers.ai_review.document,
        Event.objects.count(),
    )


def test_ai_review_of_a_published_post_goes_live_at_once_and_the_rest_stays() -> None:
    post = make.post(excerpt="Old")
    make.staged(post, {"title": "New", "excerpt": "Newer", "metaTitle": "Meta"})

    done = publish(post, "post.title", refuse=("post.excerpt",))

    post.refresh_from_db()
    assert (post.title, post.excerpt, post.status) == ("New", "Old", Status.PUBLISHED)
    assert done == replace(done, taken=("post.title",), is_live=True, is_published=False)
    layers = make.layers(post)
    assert not layers.review.exists
    assert layers.ai_review.changes.paths == ("post.metaTitle",)
    assert Revision.objects.get(post=post, reason="approved").changed_paths == ["post.title"]
    names = list(Event.objects.order_by("pk").values_list("name", flat=True))
    submitted, approved = (
        names.index("post.ai-review.approve"),
        names.index("post.review.approve"),
    )
    assert submitted < approved
    assert "post.published" not in names[submitted:]


@pytest.mark.parametrize("layer", [Layer.REVIEW, Layer.AI_REVIEW])
def test_a_draft_is_published_with_what_is_accepted(layer: Layer) -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "New", "slug": "new-address"}, layer=layer)

    done = publish(post, "post.title", "post.slug", layer=layer)

    post.refresh_from_db()
    assert (post.title, post.status, post.path) == ("New", Status.PUBLISHED, "/blog/new-address")
    assert post.published_at is not None
    assert done.is_live
    assert done.is_published
    assert Event.objects.filter(name="post.published", post_id=post.pk).count() == 1


def test_a_passage_goes_live_and_the_others_stay() -> None:
    post = make.post()
    module = make.module_id(post, "prose")
    make.staged_module(post, module, content_markdown="Grind fresh beans.\n\nPour hot water.")
    view = make.layers(post).ai_review
    change = next(iter(view.changes))
    first, second = passages_at(change, view.below, view.document)[:2]

    publish(post, f"{change.path}#{first}")

    layers = make.layers(post)
    live = str(layers.live.module(module))
    assert ("Grind fresh" in live, "Pour hot" in live) == (True, False)
    assert not layers.review.exists
    assert layers.ai_review.changes.paths == (change.path,)
    assert second


def test_what_review_held_before_is_not_brought_along() -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "A colleague's"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "New"})

    publish(post, "post.title")

    post.refresh_from_db()
    assert (post.title, post.meta_title) == ("New", None)
    assert make.layers(post).review.changes.paths == ("post.metaTitle",)


@pytest.mark.parametrize("by", ["person", "agent"])
def test_another_review_change_of_the_field_refuses_the_whole_edit(by: str) -> None:
    post = make.post(status="draft")
    if by == "person":
        make.staged(post, {"title": "A colleague's"}, layer=Layer.REVIEW)
    else:
        make.staged(post, {"title": "An earlier one"})
        decide(
            post_id=post.pk,
            layer=Layer.AI_REVIEW,
            actor=make.actor(),
            digest=digest_of(make.layers(post).ai_review.changes),
            accept=["post.title"],
            refuse=[],
        )
    make.staged(post, {"title": "An agent's", "excerpt": "An agent's", "metaTitle": "Bad"})
    before = state(post)

    with pytest.raises(Conflict) as refused:
        publish(post, "post.title", "post.excerpt", refuse=("post.metaTitle",))

    assert refused.value.code == "review_waiting"
    assert list(refused.value.details) == ["post.title"]
    assert state(post) == before


def test_a_change_to_a_module_that_only_review_has_is_refused() -> None:
    post = make.post()
    made = make.staged_addition(post, type="callout", props={"title": "One"}, layer=Layer.REVIEW)
    module = made.document.modules[-1].id
    make.staged_module(post, module, props={"title": "Two"})
    before = state(post)

    with pytest.raises(Conflict):
        publish(post, f"modules.{module}.props.title")

    assert state(post) == before


def test_a_stale_digest_writes_nothing() -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "New", "excerpt": "Newer"})
    seen = digest_of(make.layers(post).ai_review.changes)
    make.edited(post, {"title": "Edited live"}, by=make.actor("admin"))
    before = state(post)

    with pytest.raises(Conflict) as refused:
        publish(post, "post.title", "post.excerpt", digest=seen)

    assert refused.value.code == "stale_review"
    assert state(post) == before


def test_a_post_that_cannot_be_published_stays_with_all_its_changes() -> None:
    archived, original = make.post(status="draft"), make.post("Original")
    set_status(post_id=archived.pk, status="archived", actor=make.actor("admin"))
    variation = create_variation(
        post_id=original.pk, variation="B", weight=10, actor=make.actor("admin")
    )
    taken = make.post("Taken", slug="taken")
    draft = make.post("Draft", status="draft", slug="other")

    for post, patch in (
        (archived, {"title": "New"}),
        (variation, {"title": "New"}),
        (draft, {"excerpt": "New", "slug": taken.slug}),
    ):
        try:
            make.staged(post, patch)
        except RuleViolation:
            continue  # a slug that is taken is not even staged
        before = state(post)
        with pytest.raises(CmsError):
            publish(post, *[f"post.{name}" for name in patch])
        assert state(post) == before


def test_nothing_accepted_publishes_nothing() -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "New"})

    done = publish(post, refuse=("post.title",))

    post.refresh_from_db()
    assert post.status == Status.DRAFT
    assert not done.is_published
    assert not done.is_live


@pytest.mark.parametrize("layer", [Layer.REVIEW, Layer.AI_REVIEW])
def test_agents_ai_clients_tokens_and_who_lacks_a_right_are_refused(layer: Layer) -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "New"}, layer=layer)
    before = state(post)
    editor = make.actor("editor", "admin")
    lacking = [
        replace(editor, permissions=GRANTS["editor"] - {right})
        for right in APPROVE_AND_PUBLISH[layer]
    ]
    refused = [
        make.agent_actor(),
        make.mcp_actor(),
        make.mcp_actor("admin"),
        make.actor("translator", "admin"),
        replace(make.actor("admin"), token_id="token"),
        replace(make.actor("admin"), agent_id="seo-specialist"),
        *lacking,
    ]

    for by in refused:
        with pytest.raises(NotAllowed):
            publish(post, "post.title", layer=layer, by=by)
    assert state(post) == before


def test_an_agents_module_changes_go_live_beside_reviews() -> None:
    post = make.post()
    make.staged_addition(post, type="callout", props={"title": "Review's"}, layer=Layer.REVIEW)
    made = make.staged_addition(post, type="callout", props={"title": "Agent's"})
    added = made.document.modules[-1].id

    publish(post, f"modules.{added}")

    layers = make.layers(post)
    titles = [module.props.get("title") for module in layers.live.modules]
    assert "Agent's" in titles
    assert "Review's" not in titles
    assert len(layers.review.changes) == 1
    approve(
        post_id=post.pk,
        actor=make.actor("editor", "admin"),
        digest=digest_of(layers.review.changes),
    )
    assert len(make.layers(post).live.modules) == len(layers.live.modules) + 1
