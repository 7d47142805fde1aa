"""Reactions to runs: triggers, calls of other systems, once, listed with their outcomes."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions.agents import switch_agent
from agents_app.definitions.reaction_type import reaction_types
from agents_app.models import RunReaction
from agents_app.reactions.dispatch import start_reactions
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import cancel_run
from agents_app.tasks import keep_reactions
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery
from tests import make
from tests.agents.asking import execute
from tests.agents.environment import set_env
from tests.agents.reactions import chat, ended, outcomes, tool, webhook, write_reacting
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit
from tests.fake_provider import Reply as Answered
from tests.receiver import Receiver, Reply

pytestmark = pytest.mark.django_db
SECRET = "shared-secret-123456"
CANARY = "canary-credential-98765"


def test_the_end_of_a_real_run_calls_the_other_system(
    receiver: Receiver, agents_dir: Path, openai: Any, run_on_commit: RunOnCommit, settings: Any
) -> None:
    set_env(settings, agent_secret=SECRET)
    write_reacting(agents_dir, webhook(receiver.url("/hook")), providerText="openai")
    openai(Answered({"post": {"metaTitle": "Tea, “green”"}, "summary": "Shorter.\nAnd é."}))
    post = make.post()

    with run_on_commit():
        run = execute(post, agent_id="reactor")

    [seen] = receiver.at("/hook")
    told = seen.json()
    assert (told["event"], seen.method) == ("agent.run.finished", "POST")
    data = told["data"]
    assert data["agent"] == {"id": "reactor", "name": "The “Reactor”"}
    assert data["result"]["status"] == "succeeded"
    assert data["result"]["summary"] == "Shorter.\nAnd é."
    assert data["result"]["staged"] == ["post.metaTitle"]
    assert data["result"]["slug"] == post.slug
    assert data["result"]["post"]["url"] == post.path
    assert data["data"] == {
        "postId": str(post.pk),
        "scope": "dropdown",
        "fieldKey": None,
        "event": None,
        "formSlug": None,
    }
    signed = "sha256=" + hmac.new(SECRET.encode(), seen.body, hashlib.sha256).hexdigest()
    assert seen.headers["x-hub-signature-256"] == signed
    assert seen.headers["x-webhook-event"] == "agent.run.finished"
    assert seen.headers["x-agent-run"] == str(run.pk)
    assert outcomes(run) == [(1, "webhook", "succeeded", 1, "")]


TRIGGERS = ("always", "on_success", "on_error")


@pytest.mark.parametrize(
    ("status", "called"),
    [
        ("succeeded", ["/always", "/on_success"]),
        ("failed", ["/always", "/on_error"]),
        ("timed_out", ["/always", "/on_error"]),
    ],
)
def test_a_trigger_asks_how_the_run_ended(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit, status: str, called: list[str]
) -> None:
    write_reacting(agents_dir, *(webhook(receiver.url(f"/{name}"), name) for name in TRIGGERS))

    with run_on_commit():
        run = ended(status)

    assert sorted(seen.path for seen in receiver.requests) == called
    assert [row[2] for row in outcomes(run)] == ["succeeded", "succeeded"]


def test_a_run_that_is_cancelled_has_no_reactions(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, *(webhook(receiver.url(f"/{name}"), name) for name in TRIGGERS))
    run = create_run(
        agent_id="reactor", scope="dropdown", actor=make.actor("editor"), post_id=make.post().pk
    )

    with run_on_commit():
        cancel_run(run_id=run.pk, actor=make.actor("editor"))

    assert receiver.requests == []
    assert RunReaction.objects.count() == 0


@pytest.mark.parametrize(
    ("field", "operator", "value", "holds"),
    [
        ("result.status", "equals", "succeeded", True),
        ("result.status", "equals", "failed", False),
        ("result.status", "not_equals", "failed", True),
        ("result.status", "not_equals", "succeeded", False),
        ("result.summary", "contains", "tea", True),
        ("result.staged", "contains", "post.title", True),
        ("result.staged", "contains", "post.slug", False),
        ("result.cost", "greater_than", 0.5, True),
        ("result.cost", "greater_than", 0.75, False),
        ("result.usage.inputTokens", "less_than", 101, True),
        ("result.usage.inputTokens", "less_than", 100, False),
        ("result.slug", "matches", "[a-z-]+", True),
        ("result.slug", "matches", "[0-9]+", False),
        ("result.post.type", "in", ["blog", "page"], True),
        ("result.post.type", "in", ["company"], False),
        ("result.error", "exists", False, True),
        ("result.value.0.a", "exists", True, True),
        ("result.nowhere", "exists", True, False),
        ("agent", "equals", "The “Reactor”", True),
        ("agent.id", "equals", "reactor", True),
        ("data.scope", "equals", "dropdown", True),
    ],
)
def test_every_condition_operator_is_applied_to_the_result(
    agents_dir: Path, run_on_commit: RunOnCommit, field: str, operator: str, value: Any, holds: bool
) -> None:
    condition = {"field": field, "operator": operator, "value": value}
    write_reacting(
        agents_dir, {**webhook("https://example.com/", "on_condition"), "condition": condition}
    )
    run = ended(
        summary="green tea",
        staged=["post.title"],
        cost="0.75",
        input_tokens=100,
        value=[{"a": 1}],
    )

    start_reactions(Event.objects.get(name="agent.run.finished"))

    assert RunReaction.objects.filter(run=run).exists() == holds


def test_an_event_delivered_twice_reacts_once(agents_dir: Path) -> None:
    write_reacting(agents_dir, webhook("https://example.com/"), tool("list_agents"))
    ended()
    event = Event.objects.get(name="agent.run.finished")

    start_reactions(event)
    start_reactions(event)

    assert list(RunReaction.objects.values_list("number", "kind")) == [
        (1, "webhook"),
        (2, "mcp_tool"),
    ]
    assert Delivery.objects.count() == 1


def test_an_agent_that_was_switched_off_tells_nobody(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, webhook(receiver.url("/hook")))
    with run_on_commit():
        switch_agent(agent_id="reactor", enabled=False, actor=make.actor("admin"))
        ended()

    assert receiver.requests == []
    assert RunReaction.objects.count() == 0


def test_the_reactions_of_a_run_are_listed_by_the_api(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(
        agents_dir,
        webhook(receiver.url("/hook?token=canary"), "on_success"),
        chat("Done.", "on_error"),
        tool("list_agents", "on_success"),
    )
    with run_on_commit():
        run = ended()

    answer = ApiClient("editor").get(f"/api/agent-runs/{run.pk}/reactions").json()

    rows = [
        {**row, "createdAt": "", "finishedAt": bool(row["finishedAt"])} for row in answer["data"]
    ]
    common = {"trigger": "on_success", "status": "succeeded", "attempts": 1, "error": None}
    common |= {"createdAt": "", "finishedAt": True, "nextAttemptAt": None}
    assert rows == [
        {
            **common,
            "number": 1,
            "type": "webhook",
            "target": "127.0.0.1",
            "deliveryId": str(Delivery.objects.get().pk),
        },
        {**common, "number": 3, "type": "mcp_tool", "target": "list_agents", "deliveryId": None},
    ]
    assert ApiClient("translator").get(f"/api/agent-runs/{run.pk}/reactions").status_code == 403


def test_what_became_of_a_call_outlives_its_delivery(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_reacting(agents_dir, webhook(receiver.url("/yes")), webhook(receiver.url("/no")))
    receiver.say("/no", Reply(400))
    with run_on_commit():
        run = ended()
    before = outcomes(run)

    assert (keep_reactions(), keep_reactions()) == (2, 0)
    Delivery.objects.all().delete()

    assert outcomes(run) == before
    assert [row[2] for row in before] == ["succeeded", "failed"]


def test_a_reaction_that_cannot_begin_keeps_no_other_one(
    receiver: Receiver,
    agents_dir: Path,
    run_on_commit: RunOnCommit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    urls = [receiver.url(path) for path in ("/broken", "/other")]
    write_reacting(agents_dir, *(webhook(url) for url in urls))
    type_ = reaction_types()["webhook"]
    target = type_.target

    def failing(config: Any) -> str:
        if config.url == urls[0]:
            raise ZeroDivisionError
        return target(config)

    monkeypatch.setattr(type_, "target", failing)

    with run_on_commit():
        run = ended()

    assert outcomes(run) == [
        (1, "webhook", "failed", 0, "The reaction could not begin; the log says why."),
        (2, "webhook", "succeeded", 1, ""),
    ]
    assert (len(receiver.at("/broken")), len(receiver.at("/other"))) == (0, 1)
