"""Translations: created as copies, and compared with a source that has changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from content.layers import approve, digest_of, submit
from content.models import CopyOrigin, Layer, Post
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.posts.publish import set_status
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation
from content.store import document_edits, post_repository
from content.store.translation_status import (
    TranslationState,
    find_copied_texts,
    states_of,
)
from content.translations.translate import create_translation, mark_up_to_date, propose_translation
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.json import Json
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db


def translated(post: Post, locale: str = "de", role: str = "editor", **words: Any) -> Post:
    return create_translation(post_id=post.pk, locale=locale, actor=make.actor(role), **words)


def edit(post: Post, role: str = "editor", **patch: Json) -> None:
    make.edited(post, patch, by=make.actor(role))


def edit_module(post: Post, type: str, role: str = "editor", **props: Json) -> None:
    id_ = make.module_id(post, type)
    make.changed_module(post, id_, props=props, by=make.actor(role))


def state(post: Post) -> TranslationState:
    return states_of([Post.objects.get(pk=post.pk)]).get(post.pk, TranslationState())


def test_a_translation_says_what_its_source_says_with_modules_of_its_own() -> None:
    everywhere = make.term("Everywhere")
    english = make.term("Coffee")
    english.locale = "en"
    english.save()
    german = make.term("Kaffee")
    german.locale, german.slug = "de", english.slug
    german.save()
    post = make.post(
        excerpt="Short.",
        metaTitle="Meta",
        canonicalUrl="https://example.com/en",
        taxonomyTermIds=[str(everywhere.pk), str(english.pk)],
    )
    shared = make.global_module()
    make.added_module(
        post, type="callout", shared=("newsletter", str(shared.pk)), props={"title": "Own"}
    )

    made = translated(post, title="Filterkaffee")

    source, copy = post_repository.load(Post.objects.get(pk=post.pk)), post_repository.load(made)
    assert (made.status, made.locale, made.slug) == ("draft", "de", post.slug)
    assert made.title == "Filterkaffee"
    assert made.translation_group == post.translation_group
    assert made.translated_from_id == post.pk
    assert (made.excerpt, made.meta_title) == ("Short.", "Meta")
    assert made.canonical_url is None  # it would name the source as the original
    assert set(copy.taxonomy_term_ids) == {str(everywhere.pk), str(german.pk)}
    assert not set(source.order) & set(copy.order)
    for one, other in zip(source.modules, copy.modules, strict=True):
        assert (one.type, one.scope, one.locked) == (other.type, other.scope, other.locked)
        assert (one.props, one.overrides) == (other.props, other.overrides)
        assert (one.instance_id == other.instance_id) is (one.scope == "global")
    assert (state(made).stale_paths, state(made).new_modules) == ((), ())


def test_what_still_says_the_same_as_its_source_is_not_translated() -> None:
    post = make.post(excerpt="Short.", metaTitle="2024")
    made = translated(post)
    hero = make.module_id(made, "hero")
    title = f"modules.{hero}.props.title"
    found = set(state(made).untranslated_paths)
    assert {"post.title", "post.excerpt", title} <= found
    assert "post.metaTitle" not in found  # a number has no words to translate
    assert f"modules.{hero}.props.theme" not in found  # nor has a setting

    edit(made, title="Filterkaffee")
    edit_module(made, "hero", role="translator", title="Langsam")
    assert set(state(made).untranslated_paths) == found - {"post.title", title}
    edit(made, title=post.title, excerpt="Kurz.")
    assert set(state(made).untranslated_paths) == found - {"post.excerpt", title}
    edit(made, title="Filterkaffee")

    left = mark_up_to_date(
        post_id=made.pk,
        actor=make.actor("translator"),
        paths=sorted(state(made).untranslated_paths),
    )
    assert left == TranslationState()
    edit(made, metaDescription="Neu")
    assert state(made) == TranslationState()


def test_a_copied_text_whose_source_changed_is_both_stale_and_untranslated() -> None:
    post = make.post(excerpt="Short.")
    made = translated(post)

    edit(post, excerpt="Shorter.")
    edit(made, metaDescription="Neu")

    assert state(made).stale_paths == ("post.excerpt",)
    assert "post.excerpt" in state(made).untranslated_paths
    assert state(made).open_paths.count("post.excerpt") == 1


def test_a_proposed_translation_is_untranslated_where_it_says_the_same_when_it_comes_live() -> None:
    post = make.post(excerpt="Short.", metaDescription="Described.")
    proposed = propose_translation(
        post_id=post.pk,
        locale="de",
        actor=make.agent_actor(),
        fields={"title": "Filterkaffee"},
    ).post
    assert state(proposed).untranslated_paths == ()
    make.staged(proposed, {"excerpt": "Kurz."})
    submit(post_id=proposed.pk, actor=make.actor())
    view = make.layers(proposed).review
    approve(post_id=proposed.pk, actor=make.actor(), digest=digest_of(view.changes))

    found = state(proposed).untranslated_paths
    assert "post.metaDescription" in found
    assert not {"post.title", "post.excerpt"} & set(found)


def test_a_translation_into_a_variety_of_the_same_language_is_no_copy() -> None:
    post = make.post(excerpt="Short.")
    source = post_repository.load(post)

    assert find_copied_texts(replace(source, locale="en-GB"), source, {}) == set()
    assert "post.excerpt" in find_copied_texts(replace(source, locale="de"), source, {})


def test_creating_one_records_what_an_agent_must_know() -> None:
    post = make.post()
    Event.objects.all().delete()

    made = translated(post)

    names = list(Event.objects.order_by("id").values_list("name", flat=True))
    assert names == ["post.created", "post.create-translation"]
    event = Event.objects.get(name="post.create-translation")
    assert event.post_id == made.pk
    assert event.payload["id"] == str(made.pk)
    assert event.payload["locale"] == "de"
    assert (event.payload["sourceId"], event.payload["sourceLocale"]) == (str(post.pk), "en")


def test_a_second_one_is_refused_and_names_the_first() -> None:
    post = make.post()
    made = translated(post)

    for source in (post, made):
        for locale, other in (("de", made), ("en", post)):
            with pytest.raises(RuleViolation) as refusal:
                translated(source, locale)
            assert refusal.value.code == "translation_exists"
            assert str(other.pk) in refusal.value.details["locale"][0]
    assert Post.objects.count() == 2


def test_a_slug_that_is_taken_is_refused_and_another_can_be_given() -> None:
    post = make.post()
    make.post("Eigenständig", locale="de", slug=post.slug)

    with pytest.raises(RuleViolation) as refusal:
        translated(post)
    assert (refusal.value.code, list(refusal.value.details)) == ("slug_taken", ["slug"])
    assert translated(post, slug="filterkaffee").slug == "filterkaffee"


def test_a_translations_parent_is_the_parents_translation() -> None:
    def page(title: str, **fields: Json) -> Post:
        return create_post(actor=make.actor(), type="page", fields={"title": title, **fields})

    parent = page("Services")
    child = page("Repairs", parentId=str(parent.pk), orderIndex=3)
    orphan = page("Alone", parentId=str(page("Untranslated").pk))
    above = translated(parent, slug="leistungen")

    made, alone = (Post.objects.get(pk=translated(post).pk) for post in (child, orphan))

    assert (made.parent_id, made.order_index) == (above.pk, 3)
    assert made.path == "/de/leistungen/repairs"
    assert alone.parent_id is None


def test_only_what_has_content_of_its_own_is_translated() -> None:
    post = make.post()
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    proposed = make.staged(post).post
    Post.objects.filter(pk=proposed.pk).update(is_placeholder=False)

    with pytest.raises(RuleViolation) as refusal:
        translated(variation)
    assert refusal.value.code == "is_variation"
    Post.objects.filter(pk=post.pk).update(is_placeholder=True)
    with pytest.raises(RuleViolation) as refusal:
        translated(post)
    assert refusal.value.code == "not_approved"
    assert Post.objects.count() == 2


def test_what_changes_in_the_source_is_stale_until_it_is_written_again() -> None:
    post = make.post(excerpt="Short.")
    made = translated(post)
    hero = make.module_id(made, "hero")
    assert state(made).stale_paths == ()

    edit(post, title="Brew it slowly")
    edit_module(post, "hero", title="Slowly", theme="dark")
    title, theme = f"modules.{hero}.props.title", f"modules.{hero}.props.theme"
    assert set(state(made).stale_paths) == {"post.title", title, theme}

    edit(made, title="Langsam brühen")
    edit_module(made, "hero", role="translator", title="Langsam")

    assert state(made).stale_paths == (theme,)  # not words, and an editor's to follow
    edit(post, slug="another-slug", orderIndex=4)
    assert state(made).stale_paths == (theme,)


def test_added_and_removed_source_modules_are_reported() -> None:
    post = make.post()
    made = translated(post)
    faq, of_faq = make.module_id(made, "faq"), make.module_id(post, "faq")
    new: list[str] = []

    def rebuild(document: Any) -> Any:
        document = document_edits.remove_module(document, of_faq)
        document, id_ = document_edits.add_module(document, type="callout")
        new.append(id_)
        return document

    edit_post(post_id=post.pk, actor=make.actor(), edit=rebuild)

    found = state(made)
    assert [(module.id, module.type) for module in found.new_modules] == [(new[0], "callout")]
    assert found.removed_modules == ((faq, of_faq),)
    assert found.stale_paths == ()


def test_what_a_translation_did_away_with_is_not_stale() -> None:
    post = make.post()
    made = translated(post)
    faq = make.module_id(made, "faq")
    edit_post(
        post_id=made.pk,
        actor=make.actor(),
        edit=lambda document: document_edits.remove_module(document, faq),
    )

    edit_module(post, "faq", heading="Answers")

    assert (state(made).stale_paths, state(made).new_modules) == ((), ())
    assert not any(faq in path for path in state(made).untranslated_paths)


def test_a_person_can_say_that_it_is_right_as_it_is() -> None:
    post = make.post()
    made = translated(post)
    faq, of_faq = make.module_id(made, "faq"), make.module_id(post, "faq")
    edit(post, title="Brew it", excerpt="New.")

    def rebuild(document: Any) -> Any:
        document = document_edits.remove_module(document, of_faq)
        return document_edits.add_module(document, type="callout")[0]

    edit_post(post_id=post.pk, actor=make.actor(), edit=rebuild)
    new = state(made).new_modules[0].id

    left = mark_up_to_date(
        post_id=made.pk,
        actor=make.actor("translator"),
        paths=["post.title", f"modules.{new}", f"modules.{faq}"],
    )

    assert (left.stale_paths, left.new_modules, left.removed_modules) == (("post.excerpt",), (), ())
    assert Event.objects.filter(name="post.translation-checked", post_id=made.pk).count() == 1
    edit(post, title="Brew it again")
    assert state(made).stale_paths == ("post.title", "post.excerpt")


@pytest.mark.parametrize(
    "path", ["post.slug", "post.nonsense", "modules.x", "modules.x.props.title", "", "\ud800"]
)
def test_a_path_that_is_not_compared_is_refused(path: str) -> None:
    made = translated(make.post())
    before = CopyOrigin.objects.values().get()

    with pytest.raises(RuleViolation) as refusal:
        mark_up_to_date(post_id=made.pk, actor=make.actor(), paths=["post.title", path])

    assert list(refusal.value.details) == ["paths"]
    assert CopyOrigin.objects.values().get() == before


def test_an_original_is_no_translation() -> None:
    with pytest.raises(NotFound):
        mark_up_to_date(post_id=make.post().pk, actor=make.actor(), paths=["post.title"])


def test_translations_made_elsewhere_are_compared_as_well() -> None:
    post = make.post()
    made = make.post("Filterkaffee", locale="de", translation_of=post)

    edit(post, title="Changed")
    edit_module(post, "hero", title="Changed")

    hero = make.module_id(made, "hero")
    assert state(made).stale_paths == ("post.title", f"modules.{hero}.props.title")


def test_an_agent_proposes_a_translation_into_ai_review_only() -> None:
    post = make.post(excerpt="Short.")
    live = make.live_hash()
    hero = make.module_id(post, "hero")

    found = propose_translation(
        post_id=post.pk,
        locale="de",
        actor=make.agent_actor(),
        fields={"title": "Filterkaffee", "slug": "filterkaffee"},
        modules={hero: {"title": "Filterkaffee"}},
    )

    layers = make.layers(found.post)
    assert make.live_hash() == live
    assert found.post.is_placeholder
    assert not layers.review.exists
    document = layers.ai_review.document
    assert document.fields["title"] == "Filterkaffee"
    assert document.fields["excerpt"] == "Short."
    assert document.module(found.modules[hero]).props["title"] == "Filterkaffee"
    assert set(found.modules) == set(make.layers(post).live.order)
    assert set(found.modules.values()) == set(document.order)
    own = found.modules[hero]
    assert f"modules.{own}.props.title" in found.translatable[own]
    assert state(found.post) == TranslationState()
    names = Event.objects.filter(post_id=found.post.pk).values_list("name", flat=True)
    assert set(names) >= {"post.created", "post.create-translation", "post.ai-review.save"}


def test_a_proposal_that_comes_live_is_as_old_as_what_it_was_made_from() -> None:
    post = make.post()
    found = propose_translation(
        post_id=post.pk, locale="de", actor=make.agent_actor(), fields={"title": "Filterkaffee"}
    )
    edit(post, title="Moved on")
    submit(post_id=found.post.pk, actor=make.actor())

    _approve(found.post)

    assert Post.objects.get(pk=found.post.pk).title == "Filterkaffee"
    assert state(found.post).stale_paths == ("post.title",)


def test_what_a_person_staged_is_as_old_as_the_source_was_when_they_saved_it() -> None:
    post = make.post(excerpt="Short.", metaTitle="Coffee")
    made = translated(post)
    make.staged(made, {"excerpt": "Kurz.", "metaTitle": "Kaffee"}, layer=Layer.REVIEW)
    edit(post, excerpt="Shorter.", metaTitle="More coffee")
    make.staged(made, {"metaTitle": "Mehr Kaffee"}, layer=Layer.REVIEW)

    _approve(made)

    assert Post.objects.get(pk=made.pk).excerpt == "Kurz."
    assert state(made).stale_paths == ("post.excerpt",)


def _approve(post: Post) -> None:
    view = make.layers(post).view(Layer.REVIEW)
    approve(post_id=post.pk, actor=make.actor(), digest=digest_of(view.changes))


def test_an_agent_makes_no_live_translation_and_no_second_one() -> None:
    post = make.post()

    with pytest.raises(NotAllowed):
        create_translation(post_id=post.pk, locale="de", actor=make.agent_actor())
    propose_translation(post_id=post.pk, locale="de", actor=make.agent_actor())
    with pytest.raises(RuleViolation) as refusal:
        propose_translation(post_id=post.pk, locale="de", actor=make.agent_actor())
    assert refusal.value.code == "translation_exists"
    with pytest.raises(RuleViolation) as refusal:
        propose_translation(
            post_id=make.post("Other", slug="other").pk,
            locale="de",
            actor=make.agent_actor(),
            modules={"nonsense": {}},
        )
    assert refusal.value.code == "unknown_module"
    assert Post.objects.count() == 3


def test_a_deleted_translation_leaves_its_place_and_comes_back_only_to_a_free_one() -> None:
    post = make.post()
    first = translated(post)
    delete_post(post_id=first.pk, actor=make.actor())
    second = translated(post)

    with pytest.raises(RuleViolation) as refusal:
        restore_post(post_id=first.pk, actor=make.actor())

    assert refusal.value.code == "translation_exists"
    assert str(second.pk) in refusal.value.details["locale"][0]
    assert Post.objects.get(pk=first.pk).deleted_at is not None


def test_publishing_one_language_publishes_no_other() -> None:
    post = make.post(status="draft")
    made = translated(post)

    set_status(post_id=made.pk, status="published", actor=make.actor())

    assert Post.objects.get(pk=post.pk).status == "draft"
    assert Post.objects.get(pk=made.pk).status == "published"


@pytest.mark.parametrize("words", [{"slug": ""}, {"title": ""}, {"locale": ""}])
def test_no_translation_is_without_name_or_language(words: dict[str, str]) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as refusal:
        create_translation(post_id=post.pk, actor=make.actor(), **{"locale": "de", **words})

    assert list(refusal.value.details) == list(words)
    assert Post.objects.count() == 1


def test_no_post_is_without_a_slug() -> None:
    with pytest.raises(RuleViolation) as refusal:
        create_post(actor=make.actor(), type="blog", fields={"title": "T", "slug": ""})

    assert list(refusal.value.details) == ["slug"]
