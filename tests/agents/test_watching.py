"""The activity, usage and messages of a run are recorded during its execution."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agents_app.models import AgentRun, Budget, Reservation, RunMessage, Spending
from agents_app.runs import execution, run_log
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import cancel_run
from content.models import Draft
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import write_agent
from tests.fake_provider import Call, FakeProvider, Reply

pytestmark = pytest.mark.django_db
OpenAI = Callable[..., FakeProvider]
TOOLS = "llmConfig:\n  useMCP: true\n  allowedMCPTools: [list_posts, update_post_module_ai_review]"
"""The configuration of an agent that may read and stage."""


@pytest.fixture
def tooled(agents_dir: Path) -> str:
    write_agent(agents_dir, "tooled", "dropdown", extra=TOOLS)
    return "tooled"


def test_questions_and_calls_are_steps_of_one_numbering(tooled: str, openai: OpenAI) -> None:
    openai(
        Reply(calls=(Call("list_posts", {}), Call("nothing_like_it"))),
        Reply({"post": {"metaTitle": "Filter coffee"}, "summary": "Done."}),
    )

    run = execute(make.post(), agent_id=tooled)

    assert (run.status, run.error, run.doing) == ("succeeded", "", "")
    assert [(step.number, step.kind, step.name, step.ok) for step in run.steps.all()] == [
        (1, "model", "gpt-6.1-terra", True),
        (2, "tool", "list_posts", True),
        (3, "tool", "unknown tool", False),
        (4, "model", "gpt-6.1-terra", True),
    ]
    assert (run.input_tokens, run.output_tokens) == (2000, 200)
    told = Event.objects.filter(name="run.step")
    assert [event.payload for event in told] == [{"id": str(run.pk)}] * 4


def test_what_a_run_used_is_what_its_budget_counts(openai: OpenAI) -> None:
    openai(Reply(status=500, usage=None), Reply({"post": {"title": 3}}), Reply({"summary": "No."}))

    run = execute(make.post())

    assert run.status == "succeeded"
    assert [step.ok for step in run.steps.all()] == [False, False, True]
    spent = Spending.objects.get()
    assert (spent.agent_id, spent.tokens) == (run.agent_id, run.input_tokens + run.output_tokens)
    assert spent.cost == run.cost
    assert run.cost is not None
    assert run.cost > Decimal(0)
    assert not Reservation.objects.exists()


def test_a_run_that_its_budget_does_not_allow_asks_nobody(openai: OpenAI) -> None:
    fake = openai(Reply({"post": {"metaTitle": "Never"}}))
    Budget.objects.create(agent_id="seo-specialist", tokens_per_day=100)

    run = execute(make.post())

    assert (run.status, run.staged, fake.asked) == ("failed", [], [])
    assert run.error.startswith("The budget of the agent seo-specialist for this day is not enough")
    assert not Reservation.objects.exists()


def test_a_run_cancelled_between_two_steps_asks_no_more(
    tooled: str, openai: OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = openai(Reply(calls=(Call("list_posts"),)), Reply({"post": {"metaTitle": "Never"}}))
    run = create_run(
        agent_id=tooled, scope="dropdown", actor=make.actor("editor"), post_id=make.post().pk
    )

    def cancelled(self: run_log.ActivityText, text: str) -> None:
        if text == "Calling list_posts":
            cancel_run(run_id=run.pk, actor=make.actor("editor"))

    monkeypatch.setattr(run_log.ActivityText, "say", cancelled)
    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.staged, len(fake.asked)) == ("cancelled", [], 1)
    assert [step.kind for step in run.steps.all()] == ["model"], "the tool was not called"
    assert (run.input_tokens, run.output_tokens) == (1000, 100), "it was spent all the same"
    assert not Draft.objects.exists()


def test_what_a_run_does_is_said_in_words(
    tooled: str, openai: OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai(Reply(calls=(Call("list_posts"),)), Reply({"summary": "Done."}))
    said: list[str] = []
    real = run_log.ActivityText.say

    def say(self: run_log.ActivityText, text: str) -> None:
        real(self, text)
        said.append(AgentRun.objects.get().doing)

    monkeypatch.setattr(run_log.ActivityText, "say", say)

    execute(make.post(), agent_id=tooled)

    assert [line for line in said if not line.startswith("Writing")] == [
        "Waiting for the model",
        "Calling list_posts",
        "Waiting for the model",
    ]


def test_growing_answers_are_written_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    now = [100.0]
    monkeypatch.setattr("agents_app.runs.run_log.time.monotonic", lambda: now[0])
    words = run_log.ActivityText(run)
    seen = []
    for second, characters in ((0.0, 60), (0.5, 600), (1.1, 7200), (1.2, 9000)):
        now[0] = 100.0 + second
        words.wrote(characters)
        run.refresh_from_db()
        seen.append(run.doing)

    assert seen == [
        "Writing, about 10 words so far",
        "Writing, about 10 words so far",
        "Writing, about 1,200 words so far",
        "Writing, about 1,200 words so far",
    ]


def make_run(**values: Any) -> AgentRun:
    given = {"agent_id": "seo-specialist", "scope": "dropdown", "by_name": "editor", "via": "api"}
    return AgentRun.objects.create(status="running", **{**given, **values})


def test_messages_are_stored_in_order_without_the_key(tooled: str, openai: OpenAI) -> None:
    openai(
        Reply(calls=(Call("list_posts", {"q": f"the key is {KEY}"}),)),
        Reply({"summary": f"Bearer abcdefghijkl and {KEY} and sk-other-key-of-somebody."}),
    )

    run = execute(make.post("A title of its own"), agent_id=tooled)

    said = list(RunMessage.objects.order_by("number"))
    assert [(message.role, message.name) for message in said] == [
        ("system", ""),
        ("user", ""),
        ("assistant", "list_posts"),
        ("tool", "list_posts"),
        ("assistant", "suggest"),
    ]
    assert [message.number for message in said] == [1, 2, 3, 4, 5]
    assert "A title of its own" in said[1].text
    whole = "\n".join(message.text for message in said)
    assert KEY not in whole
    assert "sk-other" not in whole
    assert run.summary == "••• and ••• and •••."


def test_a_long_message_is_cut(openai: OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents_app.runs.run_log.MAX_MESSAGE_CHARACTERS", 100)
    openai(Reply({"summary": "Short."}))

    run = execute(make.post())

    payload = run.messages.get(role="user")
    assert (len(payload.text), payload.is_cut) == (104, True)
    assert payload.text.endswith("\n[…]")
    assert run.messages.get(role="assistant").is_cut is False
