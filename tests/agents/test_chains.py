"""Agents that start agents: never themselves, and never endlessly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.test import Client

from agents_app.api.runs import run_chain
from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, Reservation, RunReaction, Spending
from agents_app.runs.chain import CHAIN_STOPPED, chain_of
from agents_app.runs.creation import create_run
from agents_app.runs.triggers import start_event_runs
from content.models import Draft
from proofroom.core import outbox
from proofroom.core.api.body import dumps
from proofroom.core.errors import RuleViolation
from proofroom.core.json import format_time
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import SECRET, send
from tests.agents.environment import set_env, write_agent
from tests.agents.reactions import ended, tool, webhook, write_reacting
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit
from tests.fake_provider import Reply, serving
from tests.receiver import Receiver

pytestmark = pytest.mark.django_db


def test_what_an_agent_saves_does_not_start_it_again(
    run_on_commit: RunOnCommit, agents_dir: Path, settings: Any
) -> None:
    write_agent(agents_dir, "narcissus", "dropdown", "post.ai-review.save")
    definitions.reload()

    with run_on_commit():
        make.staged(make.post(), {"metaTitle": "Mine"}, by=make.agent_actor("narcissus"))

    assert AgentRun.objects.count() == 0


def test_threat_50_agents_that_start_each_other_stop_at_the_hop_limit_with_one_alert(
    run_on_commit: RunOnCommit, agents_dir: Path, settings: Any
) -> None:
    write_agent(agents_dir, "ping", "post.publish", "post.ai-review.save")
    write_agent(agents_dir, "pong", "post.ai-review.save")
    definitions.reload()
    replies = [Reply({"post": {"metaTitle": f"Title {number}"}}) for number in range(20)]

    with serving(*replies) as fake:
        set_env(settings, ai_provider_ollama_base_url=fake.openai_url)
        with run_on_commit():
            make.post()

    runs = list(AgentRun.objects.order_by("created_at"))
    assert [(run.agent_id, run.hop, run.status) for run in runs] == [
        ("ping", 0, "succeeded"),
        ("pong", 1, "succeeded"),
        ("ping", 2, "succeeded"),
        ("pong", 3, "succeeded"),
    ]
    assert [run.cause_run_id for run in runs] == [None, runs[0].pk, runs[1].pk, runs[2].pk]
    last = Event.objects.filter(name="post.ai-review.save").latest("pk")
    assert (last.hop, last.run_id) == (4, str(runs[3].pk))
    assert Draft.objects.get(layer="ai-review").version == 4
    assert len(fake.asked) == 4

    start_event_runs(last)  # which is refused again, and people know of it
    assert AgentRun.objects.count() == 4
    alert = Event.objects.get(name=CHAIN_STOPPED)
    began = Event.objects.get(name="post.publish")
    assert alert.payload == {
        "agentId": "ping",
        "runId": str(runs[3].pk),
        "root": f"event:{began.pk}",
        "limit": 3,
        "title": "How to brew filter coffee",
    }
    assert (alert.post_id, alert.run_id) == (runs[0].post_id, str(runs[3].pk))
    assert Reservation.objects.count() == 0
    assert sum(Spending.objects.values_list("tokens", flat=True)) == sum(
        run.input_tokens + run.output_tokens for run in runs
    )


def test_threat_50_a_reaction_that_starts_its_own_agent_stops_with_one_alert(
    run_on_commit: RunOnCommit, agents_dir: Path
) -> None:
    write_reacting(
        agents_dir,
        tool("run_agent", agentId="reactor", postId="{{data.postId}}"),
        tool("run_agent", agentId="reactor", postId="{{data.postId}}"),
    )

    with run_on_commit():
        first = ended()

    runs = list(AgentRun.objects.all())
    assert [sum(run.hop == hop for run in runs) for hop in range(5)] == [1, 2, 4, 8, 0]
    refused = RunReaction.objects.filter(run__hop=3)
    assert set(refused.values_list("status", "attempts")) == {("failed", 1)}
    assert {row.error for row in refused} == {
        "reactor is not run: at most 3 runs may start one another."
    }
    alert = Event.objects.get(name=CHAIN_STOPPED)
    assert (alert.payload["agentId"], alert.payload["root"]) == ("reactor", f"run:{first.pk}")


def test_threat_50_a_tool_that_is_refused_at_the_limit_alerts_too(
    agents_dir: Path,
) -> None:
    write_reacting(agents_dir)
    run = ended(hop=3)
    actor = replace(make.agent_actor("reactor", str(run.pk)), hop=run.hop + 1)

    for _ in range(2):
        with pytest.raises(RuleViolation, match="at most 3 runs"):
            create_run(agent_id="reactor", scope="dropdown", actor=actor, post_id=run.post_id)

    assert Event.objects.get(name=CHAIN_STOPPED).payload["runId"] == str(run.pk)


def test_threat_50_a_chain_through_another_system_is_counted_where_it_passes_the_run_on(
    receiver: Receiver, run_on_commit: RunOnCommit, agents_dir: Path, settings: Any
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    write_reacting(agents_dir, webhook(receiver.url("/hook"), bodyTemplate='"{{data.postId}}"'))
    with run_on_commit():
        first = ended()
    statuses = []

    for seen in receiver.requests:  # which grows
        body = {"postId": seen.json()}
        headers = {"HTTP_X_AGENT_KEY": SECRET, "HTTP_X_AGENT_RUN": seen.headers["x-agent-run"]}
        with run_on_commit():
            answer = send(Client(), "/api/public/agents/reactor/run", body, **headers)
        statuses.append((answer.status_code, answer.json().get("code")))

    assert statuses == [(201, None)] * 3 + [(422, "hop_limit")]
    assert [run.hop for run in AgentRun.objects.order_by("created_at")] == [0, 1, 2, 3]
    assert Event.objects.get(name=CHAIN_STOPPED).payload["root"] == f"run:{first.pk}"


def test_a_chain_is_read_from_its_first_cause_to_its_last_run(
    run_on_commit: RunOnCommit, agents_dir: Path, settings: Any, django_assert_max_num_queries: Any
) -> None:
    write_agent(agents_dir, "ping", "post.publish", "post.ai-review.save")
    write_agent(agents_dir, "pong", "post.ai-review.save")
    definitions.reload()
    with serving(*[Reply({"post": {"metaTitle": f"T {number}"}}) for number in range(9)]) as fake:
        set_env(settings, ai_provider_ollama_base_url=fake.openai_url)
        with run_on_commit():
            make.post()
    second = AgentRun.objects.get(hop=2)

    with django_assert_max_num_queries(8):
        found = chain_of(second, make.actor("admin"))

    def names(links: Any) -> list[str]:
        return [link.run.agent_id if link.run else link.event.name for link in links]

    saved = "post.ai-review.save"
    assert names(found.causes) == ["post.publish", "ping", saved, "pong", saved]
    assert names(found.caused) == [saved, "pong", CHAIN_STOPPED]

    told = ApiClient("editor").get(f"/api/agent-runs/{second.pk}/chain").json()
    assert [link["name"] for link in told["causes"]] == names(found.causes)
    assert [link["kind"] for link in told["caused"]] == ["event", "run", "event"]
    assert told["run"]["id"] == str(second.pk)
    began = told["causes"][0]
    assert (began["by"]["username"], began["postId"]) == ("admin", str(second.post_id))


def test_a_forbidden_event_shows_only_its_existence(
    agents_dir: Path,
) -> None:
    write_agent(agents_dir, "forms", "form.submit")
    event = outbox.record(
        "form.submit", actor=make.actor("admin"), payload={"formSlug": "canary-slug"}
    )
    run = AgentRun.objects.create(
        agent_id="forms", scope="form.submit", event=event, by_name="x", via="system"
    )
    reader = replace(make.actor("editor"), permissions=frozenset({"agents.view"}))

    found = orjson.loads(dumps(run_chain(run, reader)))["causes"]

    assert found == [
        {
            "kind": "event",
            "id": None,
            "name": "event",
            "agentId": None,
            "scope": None,
            "status": None,
            "postId": None,
            "at": format_time(event.created_at),
            "by": None,
        }
    ]
