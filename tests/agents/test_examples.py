"""Approved values of the same field, given to runs on a field as examples."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from agents_app.models import AgentRun
from agents_app.runs.examples import approved_examples, is_held_out
from agents_app.runs.field_target import find_field
from content.layers import approve, digest_of, submit
from content.models import Post
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.agents.asking import execute, payload_of
from tests.api_client import ApiClient
from tests.fake_provider import Reply
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

FIELD = "post.metaTitle"


def accepted(
    title: str, value: str, *, is_held: bool = False, run_id: str | None = None, **given: Any
) -> Post:
    """Create a post whose search title an agent proposed and a person approved."""
    post = make.post(title, slug=f"{title.lower().replace(' ', '-')}-{uuid4().hex[:6]}", **given)
    # The id decides whether the decision is held out.
    while is_held_out(post_id=post.pk, path=FIELD) is not is_held:
        post.delete()
        post = make.post(title, slug=f"{uuid4().hex[:12]}", **given)
    propose(post, value, run_id)
    return post


def propose(post: Post, value: str, run_id: str | None = None) -> None:
    make.staged(post, {"metaTitle": value}, by=make.agent_actor(run_id=run_id))
    submit(post_id=post.pk, actor=make.agent_actor())
    changes = make.layers(post).review.changes
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest_of(changes))


def examples_for(post: Post, key: str = FIELD, **given: Any) -> list[tuple[str, Any]]:
    document = make.layers(post).ai_review.document
    found = approved_examples(
        post=post,
        document=document,
        target=find_field(document, key),
        actor=given.get("actor", make.agent_actor()),
    )
    return [(example.title, example.value) for example in found]


def test_a_field_run_gets_approved_values_and_names_their_places(
    openai: Any, signed_in: Any
) -> None:
    fake = openai(Reply({"value": "Coffee by hand: four minutes"}))
    tea = accepted("Green tea", "Green tea: the recipe in three minutes")
    post = make.post()

    run = execute(post, scope="field", field_key=FIELD)

    context = payload_of(fake.asked[0])["context"]
    assert context["examples"] == [
        {"post": "Green tea", "value": "Green tea: the recipe in three minutes"}
    ]
    named = [{"postId": str(tea.pk), "path": FIELD}]
    assert run.examples == named
    assert ApiClient("admin").get(f"/api/agent-runs/{run.pk}").json()["examples"] == named
    page = signed_in("editor").get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert "Approved examples" in page
    assert "Green tea" in page
    # The row of the run holds places only, no content.
    assert "three minutes" not in json.dumps(run.examples)


def test_runs_on_a_whole_post_get_none(openai: Any) -> None:
    fake = openai(Reply({"declined": "Good already."}))
    accepted("Green tea", "Green tea: the recipe")

    run = execute(make.post())

    assert "examples" not in payload_of(fake.asked[0])["context"]
    assert run.examples == []


def test_the_most_alike_come_first_and_three_at_most() -> None:
    for number in range(4):
        accepted(f"Tea number {number}", f"Tea {number}")
    alike = accepted("How to brew filter tea", "Filter tea by hand")
    accepted("Cocoa", "Cocoa")

    found = examples_for(make.post("How to brew filter coffee"))

    assert [title for title, _ in found] == [alike.title, "Cocoa", "Tea number 3"]


def test_held_out_decisions_are_never_examples() -> None:
    accepted("Green tea", "Green tea: the recipe", is_held=True)

    assert examples_for(make.post()) == []


def test_every_fifth_place_is_held_out_whatever_the_spelling_of_its_id() -> None:
    ids = [UUID(int=number) for number in range(2000)]
    held = [is_held_out(post_id=id_, path=FIELD) for id_ in ids]

    assert 320 < sum(held) < 480
    assert held == [is_held_out(post_id=str(id_).upper(), path=FIELD) for id_ in ids]
    assert held != [is_held_out(post_id=id_, path="post.title") for id_ in ids]


@pytest.mark.parametrize(
    "other",
    [
        {"locale": "de"},
        {"type": "page"},
        {"status": "draft"},
    ],
    ids=["language", "type", "draft"],
)
def test_posts_of_another_kind_give_no_examples(other: dict[str, Any]) -> None:
    accepted("Green tea", "Green tea: the recipe", **other)

    assert examples_for(make.post()) == []


def test_what_a_person_wrote_or_changed_since_is_no_example() -> None:
    make.post("Written", slug="written", metaTitle="Written by a person")
    changed = accepted("Green tea", "Green tea: the recipe")
    make.edited(changed, {"metaTitle": "Something else"})

    assert examples_for(make.post()) == []


def test_values_by_runs_that_read_visitors_texts_are_no_examples() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api", has_read_untrusted=True
    )
    accepted("Green tea", "Green tea: the recipe", run_id=str(run.pk))

    assert examples_for(make.post()) == []


def test_only_what_the_actor_may_read_is_an_example() -> None:
    accepted("Green tea", "Green tea: the recipe")
    pages = ContentScope(types=frozenset({"page"}))

    limited = replace(make.agent_actor(), limited_to=(pages,))

    assert examples_for(make.post(), actor=limited) == []


def test_long_values_and_the_posts_own_are_no_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    post = accepted("Green tea", "Its own")
    other = make.post()
    assert examples_for(post) == []
    assert examples_for(other) == [("Green tea", "Its own")]

    monkeypatch.setattr("agents_app.runs.examples.MAX_EXAMPLE_CHARACTERS", 5)

    assert examples_for(other) == []


def test_props_are_compared_by_type_of_module_and_name() -> None:
    path = "modules.{}.props.subtitle"
    for _number in range(30):
        other = make.post("Green tea", slug=uuid4().hex[:12])
        hero = make.module_id(other, "hero")
        if not is_held_out(post_id=other.pk, path=path.format(hero)):
            break
    make.staged_module(other, hero, props={"subtitle": "Three minutes, no more."})
    submit(post_id=other.pk, actor=make.agent_actor())
    changes = make.layers(other).review.changes
    approve(post_id=other.pk, actor=make.actor("editor"), digest=digest_of(changes))
    post = make.post()

    assert examples_for(post, "module.hero.subtitle") == [("Green tea", "Three minutes, no more.")]
    assert examples_for(post, "module.hero.title") == []
    assert examples_for(post, "module.faq.heading") == []


def test_the_search_takes_few_queries_for_many_decisions() -> None:
    post = make.post()
    for number in range(6):
        accepted(f"Tea number {number}", f"Tea {number}")
    document = make.layers(post).ai_review.document
    target, actor = find_field(document, FIELD), make.agent_actor()

    queries = count_queries(
        approved_examples, post=post, document=document, target=target, actor=actor
    )

    # The newest decision, and the decisions with their values; no run wrote these.
    assert queries == 2
