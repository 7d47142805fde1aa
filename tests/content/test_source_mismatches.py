"""Mismatches of staged and live translations with their sources, number of queries, and permissions."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.layers import open_layers
from content.models import Layer, Post
from content.store import document_edits
from content.translations.source_mismatches import (
    live_mismatches,
    source_mismatches,
    source_mismatches_of_many,
)
from content.translations.translate import create_translation, propose_translation
from proofroom.core.content_scope import ContentScope
from tests import make

pytestmark = pytest.mark.django_db


def translated(**fields: str) -> tuple[Post, Post]:
    """Create a post in English, and its translation with these fields proposed by an agent."""
    source = make.post("Two ways in", excerpt="It costs 20 euros.")
    made = propose_translation(
        post_id=source.pk,
        locale="de",
        actor=make.agent_actor(),
        fields={"title": "Zwei Wege hinein", "excerpt": "Es kostet 20 Euro.", **fields},
    )
    return source, made.post


def test_a_proposed_translation_that_agrees_has_none() -> None:
    _source, post = translated()

    found = source_mismatches(post, open_layers(post).ai_review)

    assert "post.title" not in found
    assert "post.excerpt" not in found


def test_a_proposed_translation_is_compared_field_by_field() -> None:
    _source, post = translated(title="Drei Wege hinein", excerpt="Es kostet 200 Euro.")

    found = source_mismatches(post, open_layers(post).ai_review)

    [title], [excerpt] = found["post.title"], found["post.excerpt"]
    assert (title.kind, title.source, title.target) == ("number", "Two", "Drei")
    assert (excerpt.kind, excerpt.source, excerpt.target) == ("price", "20 euros", "200 Euro")


def test_mismatches_in_a_new_module_are_at_the_modules_change() -> None:
    source = make.post(markdown="It takes two weeks.")
    prose = make.module_id(source, "prose")
    made = propose_translation(
        post_id=source.pk,
        locale="de",
        actor=make.agent_actor(),
        modules={prose: {"content": "Es dauert zwei Tage."}},
    )

    found = source_mismatches(made.post, open_layers(made.post).ai_review)

    [one] = found[f"modules.{made.modules[prose]}"]
    assert one.path == f"modules.{made.modules[prose]}.props.content"
    assert (one.kind, one.source, one.target) == ("unit", "two weeks", "zwei Tage")


def test_only_what_is_staged_is_named() -> None:
    source = make.post("Two ways in", excerpt="It costs 20 euros.")
    post = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.edited(post, {"title": "Drei Wege hinein", "excerpt": "Es kostet 20 Euro."})
    make.staged(post, {"excerpt": "Es kostet 30 Euro."})
    post.refresh_from_db()

    assert set(source_mismatches(post, open_layers(post).ai_review)) == {"post.excerpt"}
    assert [one.path for one in live_mismatches([post])[post.pk]] == ["post.title"]


def test_a_translation_may_agree_with_what_waits_of_its_source() -> None:
    source = make.post("Two ways in")
    make.staged(source, {"title": "Three ways in"}, layer=Layer.REVIEW)
    made = propose_translation(
        post_id=source.pk,
        locale="de",
        actor=make.agent_actor(),
        source_layer=Layer.REVIEW,
        fields={"title": "Drei Wege hinein"},
    )

    assert "post.title" not in source_mismatches(made.post, open_layers(made.post).ai_review)

    make.staged(made.post, {"title": "Vier Wege hinein"})

    [one] = source_mismatches(made.post, open_layers(made.post).ai_review)["post.title"]
    assert (one.source, one.target) == ("Two", "Vier")


def test_one_query_for_any_number_of_layers_and_none_without_a_translation() -> None:
    staged = []
    for number in range(3):
        source = make.post(f"Two ways in {number}")
        made = propose_translation(
            post_id=source.pk,
            locale="de",
            actor=make.agent_actor(),
            fields={"title": f"Drei Wege hinein {number}"},
        )
        staged.append((made.post, open_layers(made.post).ai_review))
    plain = make.post("Another")
    make.staged(plain, {"title": "Changed"})
    view = open_layers(plain).ai_review

    with CaptureQueriesContext(connection) as queries:
        assert len(source_mismatches_of_many([*staged, (plain, view)])) == 3
    assert len(queries) == 1

    with CaptureQueriesContext(connection) as queries:
        assert source_mismatches(plain, view) == {}
    assert len(queries) == 0


def test_a_source_out_of_sight_tells_nothing() -> None:
    _source, post = translated(title="Drei Wege hinein")
    make.site_role(
        "german",
        "posts.view",
        "posts.review.approve",
        scope=ContentScope(locales=frozenset({"de"})),
    )
    reader = make.user("german")

    view = open_layers(post).ai_review

    assert source_mismatches(post, view, who=reader) == {}
    assert "post.title" in source_mismatches(post, view, who=make.user("editor"))


def test_a_module_that_is_taken_out_does_not_agree() -> None:
    source = make.post()
    post = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    prose = make.module_id(post, "prose")
    make.staged(post, edit=lambda document: document_edits.remove_module(document, prose))

    found = source_mismatches(post, open_layers(post).ai_review)

    assert [one.kind for one in found[f"modules.{prose}"]] == ["module"]
