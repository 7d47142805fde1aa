"""Runs limited to some fields, such as the outdated ones of a translation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents_app.models import AgentRun
from content.layers import approve, digest_of, submit
from content.models import Draft, Layer, Post
from content.store.translation_status import states_of
from content.translations.translate import create_translation
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json
from tests import make
from tests.agents.asking import execute, payload_of
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db


def german_of_changed() -> tuple[Post, Post]:
    """Create a translated post whose source changed its title, excerpt and headline."""
    source = make.post("Coffee", excerpt="First")
    german = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.edited(german, {"title": "Kaffee", "excerpt": "Erstens"})
    make.edited(source, {"title": "Good coffee", "excerpt": "Second"})
    return source, german


def translate(post: Post, *paths: str) -> AgentRun:
    return execute(post, agent_id="translator", context={"onlyFields": list(paths)})


def accept(post: Post) -> None:
    admin = make.actor("admin")
    submit(post_id=post.pk, actor=admin)
    view = make.layers(post).view(Layer.REVIEW)
    approve(post_id=post.pk, actor=admin, digest=digest_of(view.changes))


def stale(post: Post) -> tuple[str, ...]:
    return states_of([Post.objects.get(pk=post.pk)])[post.pk].stale_paths


def test_only_the_named_field_is_proposed_from_the_source_as_it_is() -> None:
    _source, german = german_of_changed()

    run = translate(german, "post.title")

    assert (run.status, run.staged) == ("succeeded", ["post.title"])
    assert make.layers(german).ai_review.document.fields["title"] == "[de] Good coffee"
    assert make.layers(german).ai_review.document.fields["excerpt"] == "Erstens"


def test_a_prop_of_a_module_is_proposed() -> None:
    _source, german = german_of_changed()
    path = f"modules.{make.module_id(german, 'hero')}.props.title"

    run = translate(german, path)

    assert run.staged == [path]
    module = make.layers(german).ai_review.document.module(make.module_id(german, "hero"))
    assert module is not None
    assert module.props["title"] == "[de] Coffee"


def test_an_accepted_proposal_counts_as_made_from_what_the_agent_read() -> None:
    source, german = german_of_changed()
    translate(german, "post.title", "post.excerpt")
    make.edited(source, {"excerpt": "Third"})

    accept(german)

    german.refresh_from_db()
    assert (german.title, german.excerpt) == ("[de] Good coffee", "[de] Second")
    assert stale(german) == ("post.excerpt",)


def test_an_answer_about_another_field_is_sent_back_and_never_staged(openai: Any) -> None:
    _source, german = german_of_changed()
    fake = openai(
        Reply({"post": {"title": "Guter Kaffee", "excerpt": "Zweitens"}}),
        Reply({"post": {"title": "Guter Kaffee"}}),
    )

    run = translate(german, "post.title")

    assert (run.status, run.staged) == ("succeeded", ["post.title"])
    assert "post.excerpt: Not asked for" in json.dumps(fake.asked[1].body["messages"][-1])
    context = payload_of(fake.asked[0])["context"]
    assert context["onlyFields"] == ["post.title"]
    assert context["sourceValues"] == {"post.title": "Good coffee"}


def test_an_agent_that_insists_proposes_nothing(openai: Any) -> None:
    _source, german = german_of_changed()
    openai(*[Reply({"post": {"excerpt": "Zweitens"}})] * 3)

    run = translate(german, "post.title")

    assert run.status == "failed"
    assert not Draft.objects.exists()


def test_a_limited_run_has_no_tool_that_writes() -> None:
    post = make.post()

    run = execute(post, agent_id="general-assistant", context={"onlyFields": ["post.title"]})

    assert run.tools is not None
    assert "save_post_ai_review" not in run.tools
    assert all(not name.startswith(("save_", "create_", "update_")) for name in run.tools)


@pytest.mark.parametrize(
    "paths",
    [
        [],
        "post.title",
        {"post": "title"},
        ["post.status"],
        ["post.slug.x"],
        ["post.nonsense"],
        ["modules.nonsense.props.title"],
        ["modules"],
        [7],
        [None],
        ["post.title"] * 501,
        ["post.customFields.nonsense"],
    ],
)
def test_what_is_no_list_of_fields_is_refused(paths: Json) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as caught:
        execute(post, context={"onlyFields": paths})

    assert "context" in caught.value.details
    assert AgentRun.objects.count() == 0


def test_a_module_is_named_by_the_part_that_a_post_writes() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    with pytest.raises(RuleViolation):
        execute(post, context={"onlyFields": [f"modules.{hero}.overrides.title"]})
