"""Rules enforced in every interface: taxonomies, shared modules, changes by translators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from content.layers import approve, digest_of
from content.layers.stage import stage
from content.models import Layer, ModuleInstance, Post
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.rules.check import check_changes
from content.store import document_edits
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from tests import make

pytestmark = pytest.mark.django_db


def edit(post: Post, role: str = "editor", **patch: Json) -> Post:
    return edit_post(
        post_id=post.pk,
        actor=make.actor(role),
        edit=lambda document: document_edits.patch_fields(document, patch),
    )


def page(title: str, **fields: Json) -> Post:
    return create_post(actor=make.actor(), type="page", fields={"title": title, **fields})


def test_max_selections_hold_at_every_door_and_at_approval() -> None:
    post = make.post()
    ids: list[Json] = [str(make.term(f"Topic {number}").pk) for number in range(4)]

    for write in (
        lambda: edit(post, taxonomyTermIds=ids),
        lambda: make.staged(post, {"taxonomyTermIds": ids}),
        lambda: make.staged(post, {"taxonomyTermIds": ids}, layer=Layer.REVIEW),
        lambda: make.post("New", slug="new", taxonomyTermIds=ids),
    ):
        with pytest.raises(RuleViolation) as refusal:
            write()
        assert list(refusal.value.details) == ["taxonomyTermIds"]


def test_a_custom_field_that_goes_keeps_no_later_one_from_the_rules() -> None:
    post = make.post("Ada", type="profile", customFields={"role": "Editor", "website": ""})
    before = make.layers(post).live
    kept = {name: value for name, value in before.fields.items() if name != "customFields.role"}
    after = replace(before, fields={**kept, "customFields.website": "javascript:alert(1)"})

    with pytest.raises(RuleViolation) as refusal:
        check_changes(post=post, before=before, after=after, actor=make.actor())

    assert list(refusal.value.details) == ["customFields.website"]


def test_terms_that_went_after_staging_are_refused_at_approval() -> None:
    post = make.post()
    term = make.term("Coffee")
    make.staged(post, {"taxonomyTermIds": [str(term.pk)]}, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    term.delete()

    with pytest.raises(RuleViolation) as refusal:
        approve(post_id=post.pk, actor=make.actor(), digest=digest)

    assert list(refusal.value.details) == ["taxonomyTermIds"]
    assert Post.objects.get().version == 1


def test_a_taxonomy_that_the_type_does_not_use_is_refused() -> None:
    with pytest.raises(RuleViolation):
        page("Page", taxonomyTermIds=[str(make.term("Coffee").pk)])


def test_threat_52_a_shared_module_takes_overrides_and_never_props() -> None:
    shared = make.global_module()
    one, other = make.post("One", slug="one"), make.post("Other", slug="other")
    ids = []
    for post in (one, other):
        edit_post(
            post_id=post.pk,
            actor=make.actor(),
            edit=lambda document: document_edits.add_module(
                document, type="callout", shared=("newsletter", str(shared.pk))
            )[0],
        )
        ids.append(make.module_id(post, "callout"))

    stage(
        post_id=one.pk,
        layer=Layer.AI_REVIEW,
        actor=make.agent_actor(),
        edit=lambda document: document_edits.update_module(
            document, ids[0], props={"title": "Mine"}
        ),
    )
    edit_post(
        post_id=one.pk,
        actor=make.actor(),
        edit=lambda document: document_edits.update_module(
            document, ids[0], overrides={"title": "Mine"}
        ),
    )

    assert ModuleInstance.objects.get(scope="global").props["title"] == "Subscribe"
    assert make.layers(one).live.modules[-1].overrides == {"title": "Mine"}
    assert make.layers(other).live.modules[-1].overrides == {}
    with pytest.raises(RuleViolation):
        edit_post(
            post_id=one.pk,
            actor=make.actor(),
            edit=lambda document: document_edits.update_module(
                document, ids[0], overrides={"titel": "x"}
            ),
        )


def test_threat_11_translators_change_translatable_values_of_translations_only() -> None:
    source = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=source)
    hero = make.module_id(german, "hero")
    by = make.actor("translator")

    def write(post: Post, **patch: Json) -> None:
        make.staged(post, patch, layer=Layer.REVIEW, by=by)

    def props(**values: Json) -> None:
        make.staged(
            german,
            layer=Layer.REVIEW,
            by=by,
            edit=lambda document: document_edits.update_module(document, hero, props=values),
        )

    write(german, title="Neu", metaTitle="Neu")
    props(title="Neu", ctaLabel="Los")
    assert len(make.layers(german).review.changes) == 4
    before = make.live_hash(), make.layers(german).review.version
    for refused in (
        lambda: write(source, title="No"),
        lambda: write(german, orderIndex=3),
        lambda: write(german, featuredMediaId=None, robotsJson={"index": False}),
        lambda: write(german, taxonomyTermIds=[str(make.term("Coffee").pk)]),
        lambda: props(theme="dark"),
        lambda: make.staged(
            german,
            layer=Layer.REVIEW,
            by=by,
            edit=lambda document: document_edits.add_module(document, type="callout")[0],
        ),
        lambda: edit(german, "translator", title="Live is published"),
    ):
        with pytest.raises(NotAllowed):
            refused()
    assert (make.live_hash(), make.layers(german).review.version) == before
    Post.objects.filter(pk=german.pk).update(status="draft")
    edit(german, "translator", title="Ein Entwurf")
    assert Post.objects.get(pk=german.pk).title == "Ein Entwurf"
