"""A run on a post proposes changes only for it and its translations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from agents_app.runs.creation import create_run
from agents_app.runs.execution import prepare_attempt
from agents_app.runs.undo import take_back
from content.layers import stage, submit
from content.models import Draft, Layer, Post
from content.posts.create import propose_post
from content.store import document_edits
from content.translations.translate import propose_translation, propose_translations
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed
from proofroom.core.json import JsonObject
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.agents.tooling import toolbox, tooled, working

pytestmark = pytest.mark.django_db

Write = Callable[[Post, Actor], object]
WRITES: dict[str, Write] = {
    "stage": lambda post, by: stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=by,
        edit=lambda document: document_edits.patch_fields(document, {"title": "Elsewhere"}),
    ),
    "submit": lambda post, by: submit(post_id=post.pk, actor=by),
    "propose_post": lambda post, by: propose_post(actor=by, type="blog", fields={"title": "New"}),
    "propose_translation": lambda post, by: propose_translation(
        post_id=post.pk, locale="de", actor=by
    ),
    "propose_translations": lambda post, by: propose_translations(
        post_id=post.pk, locales=["de"], actor=by
    ),
    "create_preview_link": lambda post, by: create_preview_link(
        post_id=post.pk, layer="ai-review", actor=by
    ),
}


@pytest.mark.parametrize("write", sorted(WRITES))
def test_every_door_refuses_what_is_outside_of_the_run(write: str) -> None:
    own, other = make.post(), make.post("Tea", slug="tea")
    make.staged(other, {"excerpt": "Waits"})
    actor = replace(make.agent_actor(), run_id="a-run", confined_to=own.translation_group)
    drafts, live = list(Draft.objects.values()), make.live_hash()

    with pytest.raises(NotAllowed) as caught:
        WRITES[write](other, actor)

    assert caught.value.code == "outside_of_run"
    assert (list(Draft.objects.values()), make.live_hash()) == (drafts, live)
    assert (Post.objects.count(), PreviewLink.objects.count()) == (2, 0)
    assert not make.layers(other).review.exists


def test_a_runs_scope_includes_translations_that_it_creates(agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review")
    post = make.post()
    german = make.post("Kaffee", locale="de", translation_of=post)
    box, run = toolbox("writer", post)
    actor = prepare_attempt(run).actor

    answer = box.call(
        "save_post_ai_review", {"postId": str(german.pk), "patch": {"excerpt": "Kurz"}}
    )

    assert json.loads(answer.text)["staged"] == ["post.excerpt"]
    assert run.confined_to == post.translation_group == actor.confined_to


def test_a_translation_that_a_run_makes_joins_its_post() -> None:
    post = make.post()
    actor = replace(make.agent_actor(), run_id="a-run", confined_to=post.translation_group)

    made = propose_translation(post_id=post.pk, locale="de", actor=actor)

    assert made.post.translation_group == post.translation_group
    assert make.layers(made.post).ai_review.exists


def test_the_tools_of_translations_serve_a_run_on_its_own_post_only(agents_dir: Path) -> None:
    one, many = "create_translation_ai_review", "create_translations_ai_review_bulk"
    tooled(agents_dir, "writer", one, many)
    post, other = make.post(), make.post("Tea", slug="tea")
    box, run = toolbox("writer", post)

    refused = [
        box.call(one, {"postId": str(other.pk), "locale": "de"}),
        box.call(many, {"postId": str(other.pk), "locales": ["de"]}),
    ]
    made = box.call(many, {"postId": str(post.pk), "locales": ["de"]})

    assert [answer.ok for answer in refused] == [False, False]
    assert made.ok, made.text
    german = Post.objects.get(pk=json.loads(made.text)["items"][0]["translationId"])
    assert german.translation_group == post.translation_group
    marks = make.layers(german).ai_review.marks.values()
    assert {(mark.agent_id, mark.run_id) for mark in marks} == {("writer", str(run.pk))}
    assert Post.objects.count() == 3


def test_a_translation_goes_with_its_run_and_the_next_try_makes_it_anew(agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "create_translation_ai_review")
    post = make.post()
    box, run = toolbox("writer", post)
    call: JsonObject = {"postId": str(post.pk), "locale": "de"}
    first = box.call("create_translation_ai_review", call)

    take_back(run)
    alone = list(Post.objects.alive())
    second = box.call("create_translation_ai_review", call)

    assert (first.ok, alone, second.ok) == (True, [post], True)
    german = Post.objects.alive().get(locale="de")
    assert json.loads(second.text)["translationId"] == str(german.pk)
    assert german.pk != UUID(json.loads(first.text)["translationId"])


def test_a_run_without_a_post_may_propose_for_any(agents_dir: Path) -> None:
    tooled(agents_dir, "writer", "save_post_ai_review", "create_post_ai_review")
    post = make.post()
    box, run = toolbox("writer")

    staged = box.call("save_post_ai_review", {"postId": str(post.pk), "patch": {"excerpt": "A"}})
    made = box.call("create_post_ai_review", {"type": "blog", "title": "New"})

    assert (staged.ok, made.ok, run.confined_to) == (True, True, None)
    assert [(row.post_id, row.is_made) for row in run.posts.order_by("is_made")] == [
        (post.pk, False),
        (Post.objects.exclude(pk=post.pk).get().pk, True),
    ]


def test_a_run_cannot_begin_another_one_elsewhere() -> None:
    own, other = make.post(), make.post("Tea", slug="tea")
    run = working("seo-specialist", own)
    actor = prepare_attempt(run).actor

    with pytest.raises(NotAllowed) as caught:
        create_run(agent_id="proofreader", scope="dropdown", actor=actor, post_id=other.pk)
    inside = create_run(agent_id="proofreader", scope="dropdown", actor=actor, post_id=own.pk)
    without = create_run(
        agent_id="general-assistant", scope="global", actor=actor, open_ended_context=None
    )

    assert caught.value.code == "outside_of_run"
    assert inside.confined_to == without.confined_to == own.translation_group
