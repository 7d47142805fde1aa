"""Concurrent copies: one translation per language, one variation per name, one deletion of a post. Real threads."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from content.models import Post
from content.posts.publish import set_status
from content.posts.trash import delete_post, purge_trash, restore_post
from content.posts.variations import create_variation, promote_variation
from content.store.traffic import change_variation
from content.translations.translate import (
    create_translation,
    propose_translation,
    propose_translations,
)
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link, open_preview
from tests import make
from tests.content.at_once import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


def refusals(results: list[object]) -> list[str]:
    assert all(isinstance(item, RuleViolation | Post) for item in results), results
    return [item.code for item in results if isinstance(item, RuleViolation)]


def test_one_translation_per_language() -> None:
    post, actor = make.post(), make.actor("editor")
    german = create_translation(post_id=post.pk, locale="de", actor=actor)
    delete_post(post_id=german.pk, actor=actor)

    def translate() -> Post:
        return create_translation(post_id=post.pk, locale="de", actor=actor)

    def restore() -> Post:
        return restore_post(post_id=german.pk, actor=actor)

    results = at_once(translate, translate, restore, translate)

    assert refusals(results) == ["translation_exists"] * 3
    assert Post.objects.alive().filter(locale="de").count() == 1


def test_one_proposed_translation_per_language_whichever_post_it_is_made_from(
    settings: Any,
) -> None:
    locales = {"locales": ("en", "de", "fr")}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=locales)
    post, person = make.post(), make.actor("editor")
    german = create_translation(post_id=post.pk, locale="de", actor=person)
    agents = [make.agent_actor("translator"), make.agent_actor("seo-specialist")]

    def propose(source: Post, agent: Actor) -> Post:
        return propose_translation(post_id=source.pk, locale="fr", actor=agent).post

    results = at_once(
        partial(propose, post, agents[0]),
        partial(propose, german, agents[1]),
        partial(propose, post, agents[1]),
    )

    def propose_all(agent: Actor) -> list[UUID | None]:
        rows = propose_translations(post_id=post.pk, locales=["fr"], actor=agent)
        return [row.post_id for row in rows]

    again = at_once(*(partial(propose_all, agent) for agent in agents))

    assert refusals(results) == ["translation_exists"] * 2
    french = Post.objects.alive().get(locale="fr")
    assert again == [[french.pk], [french.pk]]


def test_one_variation_per_name() -> None:
    post, actor = make.post(), make.actor("editor")

    def vary() -> Post:
        return create_variation(post_id=post.pk, variation="B", actor=actor)

    assert refusals(at_once(vary, vary, vary)) == ["variation_exists"] * 2
    assert Post.objects.filter(variation_of=post).count() == 1


def test_variations_started_at_once_have_at_most_all_visitors() -> None:
    post, actor = make.post(), make.actor("editor")
    made = [
        create_variation(post_id=post.pk, variation=name, actor=actor, weight=40) for name in "BCD"
    ]

    def start(variation: Post) -> Post:
        return change_variation(
            post_id=post.pk, variation_id=variation.pk, actor=actor, running=True
        )

    results = at_once(*(partial(start, one) for one in made))

    assert refusals(results) == ["too_many_visitors"]
    assert Post.objects.filter(variation_running=True).count() == 2


def test_a_test_does_not_outlive_its_original() -> None:
    post, actor = make.post(), make.actor("editor")
    made = create_variation(post_id=post.pk, variation="B", actor=actor)

    def start() -> Post:
        return change_variation(post_id=post.pk, variation_id=made.pk, actor=actor, running=True)

    def unpublish() -> Post:
        return set_status(post_id=post.pk, status="draft", actor=actor)

    results = at_once(start, unpublish, start)

    assert set(refusals(results)) <= {"original_not_published"}
    assert not Post.objects.get(pk=made.pk).variation_running


def test_an_edit_and_a_promotion_follow_each_other() -> None:
    post, actor = make.post(), make.actor("editor")
    made = create_variation(post_id=post.pk, variation="B", actor=actor)
    make.edited(made, {"title": "Won"}, by=actor)

    def edit() -> Post:
        return make.edited(post, {"slug": "moved"}, by=actor)

    def promote() -> Post:
        return promote_variation(post_id=post.pk, variation_id=made.pk, actor=actor)

    assert refusals(at_once(edit, promote)) == []
    after = Post.objects.get(pk=post.pk)
    assert (after.slug, after.title, after.version) == ("moved", "Won", 3)
    assert list(post.revisions.order_by("version").values_list("version", flat=True)) == [1, 2, 3]
    assert Post.objects.get(pk=made.pk).slug == "moved"


def test_the_trash_is_emptied_once() -> None:
    admin = make.actor("admin")
    for number in range(6):
        post = make.post(f"No. {number}", slug=f"no-{number}")
        delete_post(post_id=post.pk, actor=admin)
    Post.objects.update(deleted_at=timezone.now() - timedelta(days=40))

    results = at_once(*[lambda: purge_trash(actor=admin, days=30)] * 3)

    assert sum(int(str(item)) for item in results) == 6
    assert not Post.objects.exists()


def test_every_view_is_counted() -> None:
    _, token = create_preview_link(
        post_id=make.post().pk, layer="source", actor=make.actor("editor")
    )

    at_once(*[lambda: open_preview(token)] * 6)

    assert PreviewLink.objects.get().views == 6
