"""Services of posts: status, schedule, trash, translations, the tree of pages, taxonomies, shared modules."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from content.layers import approve, digest_of
from content.layers.stage import stage
from content.models import Layer, ModuleInstance, Post
from content.posts.create import create_post, propose_post
from content.posts.publish import set_status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, restore_post
from content.rules.check import check_changes
from content.store import document_edits
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.json import Json
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db

MOVES = {
    ("draft", "published"): ["post.published", "post.publish"],
    ("published", "draft"): ["post.updated"],
    ("draft", "archived"): ["post.updated"],
    ("published", "archived"): ["post.updated"],
    ("archived", "draft"): ["post.updated"],
    ("archived", "published"): None,
}


def edit(post: Post, role: str = "editor", **patch: Json) -> Post:
    return make.edited(post, patch, by=make.actor(role))


def page(title: str, **fields: Json) -> Post:
    return create_post(actor=make.actor(), type="page", fields={"title": title, **fields})


@pytest.mark.parametrize(("before", "after"), sorted(MOVES))
def test_the_moves_of_a_status(before: str, after: str) -> None:
    post = make.post(status="draft")
    Post.objects.filter(pk=post.pk).update(status=before)
    Event.objects.all().delete()
    expected = MOVES[before, after]

    if expected is None:
        with pytest.raises(RuleViolation) as refusal:
            set_status(post_id=post.pk, status=after, actor=make.actor())
        assert list(refusal.value.details) == ["status"]
        assert Post.objects.get().status == before
        return
    set_status(post_id=post.pk, status=after, actor=make.actor())

    assert Post.objects.get().status == after
    assert list(Event.objects.order_by("id").values_list("name", flat=True)) == expected


def test_published_at_is_the_first_publication_and_stays() -> None:
    post = make.post()
    first = Post.objects.get().published_at
    assert first is not None

    for status in ("draft", "published", "archived"):
        set_status(post_id=post.pk, status=status, actor=make.actor())
        assert Post.objects.get().published_at == first


@pytest.mark.parametrize("role", ["translator", "ai_agent"])
def test_nobody_else_moves_a_status(role: str) -> None:
    post = make.post()

    with pytest.raises(NotAllowed):
        set_status(post_id=post.pk, status="draft", actor=make.actor(role))

    assert Post.objects.get().status == "published"


def test_what_an_agent_made_is_not_published_before_its_title_is_approved() -> None:
    made = propose_post(actor=make.agent_actor(), type="blog", fields={"title": "Proposed"}).post

    with pytest.raises(RuleViolation) as refusal:
        set_status(post_id=made.pk, status="published", actor=make.actor())

    assert refusal.value.code == "not_approved"


def test_a_schedule_publishes_once_and_only_when_due() -> None:
    post = make.post(status="draft")
    moment = timezone.now() + timedelta(hours=1)
    edit(post, publishAt=moment.isoformat())
    assert run_due_dates(make.actor("admin", via="system")) == 0
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(seconds=1))

    first = run_due_dates(make.actor("admin", via="system"))
    second = run_due_dates(make.actor("admin", via="system"))

    assert (first, second) == (1, 0)
    found = Post.objects.get()
    assert (found.status, found.publish_at) == ("published", None)
    assert Event.objects.filter(name="post.published").count() == 1


@pytest.mark.parametrize("status", ["archived", "published"])
def test_a_schedule_leaves_what_is_no_draft(status: str) -> None:
    post = make.post(status="draft")
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now(), status=status)

    assert run_due_dates(make.actor("admin", via="system")) == 0


def test_trash_and_restore_onto_a_taken_slug() -> None:
    post = make.post()
    make.staged(post, {"title": "Waits"})
    delete_post(post_id=post.pk, actor=make.actor())
    for call in (delete_post, set_status):
        with pytest.raises(NotFound):
            call(
                post_id=post.pk,
                actor=make.actor(),
                **({} if call is delete_post else {"status": "draft"}),
            )
    other = make.post()

    with pytest.raises(RuleViolation) as refusal:
        restore_post(post_id=post.pk, actor=make.actor())
    edit(other, slug="out-of-the-way")
    restore_post(post_id=post.pk, actor=make.actor())

    assert (refusal.value.code, list(refusal.value.details)) == ("slug_taken", ["slug"])
    assert make.layers(post).ai_review.exists
    with pytest.raises(NotFound):
        restore_post(post_id=post.pk, actor=make.actor())


def test_one_translation_a_locale_also_when_restored() -> None:
    source = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=source)
    assert german.translation_group == source.translation_group

    with pytest.raises(RuleViolation) as second:
        make.post("Noch einer", locale="de", translation_of=source, slug="noch-einer")
    delete_post(post_id=german.pk, actor=make.actor())
    make.post("Neu", locale="de", translation_of=source, slug="neu")
    with pytest.raises(RuleViolation) as restored:
        restore_post(post_id=german.pk, actor=make.actor())

    assert list(second.value.details) == list(restored.value.details) == ["locale"]


def test_the_tree_has_no_cycles_and_children_follow_their_parents() -> None:
    top = page("Top")
    middle = page("Middle", parentId=str(top.pk))
    leaf = page("Leaf", parentId=str(middle.pk))
    german = create_post(actor=make.actor(), type="page", fields={"title": "D"}, locale="de")

    for child, parent in (
        (top, top),
        (top, middle),
        (top, leaf),
        (top, german),
        (top, make.post()),
    ):
        with pytest.raises(RuleViolation) as refusal:
            edit(child, parentId=str(parent.pk))
        assert list(refusal.value.details) == ["parentId"]
    with pytest.raises(RuleViolation):
        edit(Post.objects.get(type="blog"), parentId=str(top.pk))
    edit(top, slug="renamed")

    paths = dict(Post.objects.filter(type="page", locale="en").values_list("title", "path"))
    assert paths == {"Top": "/renamed", "Middle": "/renamed/middle", "Leaf": "/renamed/middle/leaf"}
    edit(middle, parentId=None)
    leaf.refresh_from_db()
    assert leaf.path == "/middle/leaf"


def test_a_schedule_needs_the_right_to_publish() -> None:
    narrowed = replace(make.actor(), permissions=frozenset({"posts.create", "posts.edit"}))

    with pytest.raises(NotAllowed):
        create_post(
            actor=narrowed,
            type="blog",
            fields={"title": "T", "publishAt": "2099-01-01T00:00:00Z"},
        )

    assert Post.objects.count() == 0


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
        make.added_module(post, type="callout", shared=("newsletter", str(shared.pk)))
        ids.append(make.module_id(post, "callout"))

    stage(
        post_id=one.pk,
        layer=Layer.AI_REVIEW,
        actor=make.agent_actor(),
        edit=lambda document: document_edits.update_module(
            document, ids[0], props={"title": "Mine"}
        ),
    )
    make.changed_module(one, ids[0], overrides={"title": "Mine"})

    assert ModuleInstance.objects.get(scope="global").props["title"] == "Subscribe"
    assert make.layers(one).live.modules[-1].overrides == {"title": "Mine"}
    assert make.layers(other).live.modules[-1].overrides == {}
    with pytest.raises(RuleViolation):
        make.changed_module(one, ids[0], overrides={"titel": "x"})


def test_threat_11_translators_change_translatable_values_of_translations_only() -> None:
    source = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=source)
    hero = make.module_id(german, "hero")
    by = make.actor("translator")

    def write(post: Post, **patch: Json) -> None:
        make.staged(post, patch, layer=Layer.REVIEW, by=by)

    def props(**values: Json) -> None:
        make.staged_module(german, hero, props=values, layer=Layer.REVIEW, by=by)

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
        lambda: make.staged_addition(german, type="callout", layer=Layer.REVIEW, by=by),
        lambda: edit(german, "translator", title="Live is published"),
    ):
        with pytest.raises(NotAllowed):
            refused()
    assert (make.live_hash(), make.layers(german).review.version) == before
    Post.objects.filter(pk=german.pk).update(status="draft")
    edit(german, "translator", title="Ein Entwurf")
    assert Post.objects.get(pk=german.pk).title == "Ein Entwurf"
