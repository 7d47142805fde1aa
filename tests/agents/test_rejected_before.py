"""Earlier rejections are passed to the next run at the same place, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents_app.models import AgentRun
from content.inbox.rejections import undo_rejections
from content.layers.reject import reject
from content.models import Layer, Post
from content.posts.edit import edit_post
from content.store import document_edits
from tests import make
from tests.agents.asking import execute, payload_of
from tests.fake_provider import FakeProvider, Reply

pytestmark = pytest.mark.django_db
OpenAI = Callable[..., FakeProvider]


def rejected(post: Post, note: str, run_id: str | None = None, **patch: Any) -> int:
    make.staged(post, patch, by=make.agent_actor(run_id=run_id))
    editor = make.actor("editor")
    return reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=editor, note=note).rejection


def context_of(fake: FakeProvider) -> Any:
    return payload_of(fake.asked[-1])["context"]


def asked(post: Post, field: str = "post.metaTitle", **given: Any) -> AgentRun:
    return execute(post, agent_id="general-assistant", scope="field", field_key=field, **given)


def test_a_field_run_receives_the_fields_rejections(openai: OpenAI) -> None:
    fake = openai(Reply({"value": "Fine"}))
    post = make.post()
    rejected(post, "too salesy", metaTitle="Buy now")
    rejected(post, "too long", metaTitle="Buy later, much later")
    rejected(post, "elsewhere", excerpt="Not here")
    back = rejected(post, "hasty", metaTitle="Coffee")
    undo_rejections(post_id=post.pk, rejections=[back], actor=make.actor("editor"))

    asked(post)

    told = context_of(fake)["rejectedBefore"]
    assert [(one["by"], one["note"], one["value"]) for one in told] == [
        ("editor", "too long", "Buy later, much later"),
        ("editor", "too salesy", "Buy now"),
    ]
    system = fake.asked[-1].body["messages"][0]["content"]
    assert "`context.rejectedBefore`" in system
    assert "too salesy" not in system


def test_a_post_run_receives_all_its_rejections(openai: OpenAI) -> None:
    fake = openai(Reply({"summary": "Nothing to do."}))
    post = make.post()
    rejected(post, "too salesy", metaTitle="Buy now")
    rejected(post, "wrong", canonicalUrl="https://other.test/" + "x" * 500)

    execute(post)

    told = context_of(fake)["rejectedBefore"]
    assert [(one["path"], one["note"], one.get("value")) for one in told] == [
        ("post.canonicalUrl", "wrong", None),
        ("post.metaTitle", "too salesy", "Buy now"),
    ]


def test_a_field_in_a_prop_gets_its_own_part(openai: OpenAI) -> None:
    fake = openai(Reply({"value": "Fine"}))
    post = make.post()
    faq = make.module_id(post, "faq")

    def told(question: str) -> Any:
        return lambda document: document_edits.update_module(
            document, faq, props={"items": [{"question": question}]}
        )

    edit_post(post_id=post.pk, actor=make.actor("editor"), edit=told("Why?"))
    make.staged(post, edit=told("Why buy?"))
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="pushy")

    asked(post, "module.faq.items.0.question")

    (one,) = context_of(fake)["rejectedBefore"]
    assert (one["note"], one["value"]) == ("pushy", "Why buy?")


def test_without_rejections_nothing_is_said_and_no_caller_says_it(openai: OpenAI) -> None:
    fake = openai(Reply({"value": "Fine"}))

    asked(make.post(), context={"rejectedBefore": [{"note": "forged"}], "audience": "all"})

    context = context_of(fake)
    assert "rejectedBefore" not in context
    assert context["audience"] == "all"


def test_output_of_runs_that_read_visitors_texts_is_not_passed_on(openai: OpenAI) -> None:
    fake = openai(Reply({"value": "Fine"}), Reply({"summary": "Fine."}))
    post = make.post()
    reader = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", post=post, by_name="x", via="api",
        status="succeeded", has_read_untrusted=True,
    )  # fmt: skip
    rejected(post, "spam", run_id=str(reader.pk), metaTitle="Obey the visitor")

    asked(post)
    (of_field,) = context_of(fake)["rejectedBefore"]
    execute(post)
    (of_post,) = context_of(fake)["rejectedBefore"]

    for one in (of_field, of_post):
        assert one["note"] == "spam"
        assert "value" not in one


def test_a_value_that_is_too_long_is_left_out_and_its_note_is_not(openai: OpenAI) -> None:
    fake = openai(Reply({"value": "Fine"}))
    post = make.post()
    prose = make.module_id(post, "prose")
    make.staged_module(post, prose, content_markdown="word " * 2000)
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="far too long")

    asked(post, "module.prose.content", stages_value=False)

    (one,) = context_of(fake)["rejectedBefore"]
    assert one["note"] == "far too long"
    assert "value" not in one


def test_the_demo_does_not_answer_what_was_rejected() -> None:
    post = make.post("A long title about filter coffee, told at length. And a second sentence.")
    first = asked(post, stages_value=False)
    rejected(post, "No", metaTitle=str(first.value))

    second = asked(post, stages_value=False)

    assert second.value != first.value
