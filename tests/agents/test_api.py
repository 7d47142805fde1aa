"""The endpoints of agents and runs, and the public trigger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app import tools
from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun
from tests import make
from tests.agents.asking import send
from tests.agents.environment import write_agent
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


def test_the_list_holds_agents_of_the_dropdown_and_no_secrets(
    signed_in: Any, agents_dir: Path
) -> None:
    write_agent(agents_dir, "hidden", "dropdown", extra="enabled: false")
    write_agent(agents_dir, "keyed", "dropdown@99", extra="llmConfig: {apiKey: sk-of-the-file}")
    definitions.reload()

    answer = signed_in().get("/api/agents")

    assert answer.status_code == 200
    assert [agent["id"] for agent in answer.json()["data"]] == [
        "general-assistant",
        "seo-specialist",
        "proofreader",
        "translator",
        "illustrator",
        "keyed",
    ]
    assert answer.json()["data"][1]["openEndedContext"] == {
        "enabled": True,
        "label": "What should it look out for?",
        "placeholder": "For example: main keyword, audience, tone",
        "maxChars": 2000,
    }
    assert answer.json()["data"][2]["openEndedContext"] == {"enabled": False}
    assert "sk-of-the-file" not in answer.content.decode()
    assert "You are" not in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


def test_the_list_is_narrowed_by_scope_and_field(signed_in: Any) -> None:
    client = signed_in()

    def ids(query: str) -> list[str]:
        return [agent["id"] for agent in client.get(f"/api/agents?{query}").json()["data"]]

    assert ids("scope=global") == ["general-assistant"]
    assert ids("scope=field&fieldType=media") == ["general-assistant", "illustrator"]
    assert ids("scope=field&fieldKey=module.hero.imageId") == ["general-assistant", "illustrator"]
    assert ids("scope=field&fieldKey=post.customFields.nothing") == [
        "general-assistant",
        "proofreader",
        "illustrator",
    ]
    assert ids("scope=field&fieldKey=post.metaTitle") == [
        "general-assistant",
        "seo-specialist",
        "proofreader",
    ]


def test_a_run_is_begun_read_and_listed(signed_in: Any, run_on_commit: RunOnCommit) -> None:
    client, post = signed_in(), make.post()
    before = make.live_hash()

    with run_on_commit():
        begun = send(
            client, f"/api/posts/{post.pk}/agents/seo-specialist/run", {"context": {"a": 1}}
        )

    assert begun.status_code == 201
    assert begun.json()["status"] == "queued"
    assert begun["Location"] == f"/api/agent-runs/{begun.json()['id']}"
    run = client.get(begun["Location"]).json()
    assert (run["status"], run["agentId"], run["scope"], run["postId"]) == (
        "succeeded",
        "seo-specialist",
        "dropdown",
        str(post.pk),
    )
    assert run["by"] == {"id": make.user("editor").pk, "username": "editor"}
    assert (run["provider"], run["usage"], run["cost"], run["error"]) == (
        "demo",
        {"inputTokens": 0, "outputTokens": 0, "cachedTokens": 0},
        None,
        None,
    )
    assert len(run["staged"]) == 5
    assert run["steps"][0]["n"] == 1
    assert run["createdAt"].endswith("Z")
    assert "value" not in run
    listed = client.get(f"/api/agent-runs?postId={post.pk}&status=succeeded&agentId=seo-specialist")
    assert listed.json()["data"] == [run]
    assert listed.json()["meta"]["total"] == 1
    assert client.get("/api/agent-runs?status=failed").json()["data"] == []
    assert make.live_hash() == before


def test_the_run_list_takes_a_fixed_number_of_queries(
    signed_in: Any, run_on_commit: RunOnCommit, django_assert_max_num_queries: Any
) -> None:
    client = signed_in()
    with run_on_commit():
        for number in range(6):
            send(client, f"/api/posts/{make.post(slug=f'p{number}').pk}/agents/seo-specialist/run")

    with django_assert_max_num_queries(5):
        assert client.get("/api/agent-runs").json()["meta"]["total"] == 6


@pytest.mark.django_db(transaction=True)
def test_wait_answers_with_the_result(signed_in: Any) -> None:
    client, post = signed_in(), make.post()

    answer = send(client, f"/api/posts/{post.pk}/agents/seo-specialist/run?wait=5")

    assert (answer.status_code, answer.json()["status"]) == (200, "succeeded")
    too_long = send(client, f"/api/posts/{post.pk}/agents/seo-specialist/run?wait=61")
    assert (too_long.status_code, list(too_long.json()["details"])) == (422, ["wait"])


def test_a_field_run_over_the_api(signed_in: Any, run_on_commit: RunOnCommit) -> None:
    client, post = signed_in(), make.post()
    body = {"scope": "field", "fieldKey": "post.metaTitle"}

    with run_on_commit():
        begun = send(client, f"/api/posts/{post.pk}/agents/seo-specialist/run", body)

    run = client.get(begun["Location"]).json()
    assert (run["value"], run["fieldKey"], run["staged"]) == (
        "How to brew filter coffee",
        "post.metaTitle",
        ["post.metaTitle"],
    )


@pytest.mark.parametrize(
    ("agent", "body", "status", "code", "field"),
    [
        ("nobody", {}, 404, "unknown_agent", None),
        ("seo-specialist", {"surprise": 1}, 422, "invalid", "surprise"),
        ("seo-specialist", {"context": "words"}, 422, "invalid", "context"),
        ("seo-specialist", {"scope": "post.publish"}, 422, "invalid", "scope"),
        ("seo-specialist", {"scope": "field"}, 422, "invalid", "fieldKey"),
        ("seo-specialist", {"openEndedContext": "x" * 2001}, 422, "invalid", "openEndedContext"),
        ("seo-specialist", {"openEndedContext": "a\x00b"}, 422, "invalid", "openEndedContext"),
        ("proofreader", {"openEndedContext": "Hello"}, 422, "invalid", "openEndedContext"),
    ],
)
def test_what_cannot_begin_says_why(
    signed_in: Any, agent: str, body: dict[str, Any], status: int, code: str, field: str | None
) -> None:
    answer = send(signed_in(), f"/api/posts/{make.post().pk}/agents/{agent}/run", body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert list(answer.json()["details"]) == ([field] if field else [])
    assert AgentRun.objects.count() == 0


def test_an_agent_that_is_not_in_the_scope_is_403(signed_in: Any) -> None:
    answer = send(signed_in("admin"), "/api/agents/seo-specialist/run")

    assert (answer.status_code, answer.json()["code"]) == (403, "agent_not_in_scope")


def test_cancelling_over_the_api(signed_in: Any) -> None:
    client = signed_in()
    begun = send(client, f"/api/posts/{make.post().pk}/agents/seo-specialist/run").json()

    answer = send(client, f"/api/agent-runs/{begun['id']}/cancel")

    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert send(client, f"/api/agent-runs/{begun['id']}/cancel").status_code == 409


def test_agents_are_listed_run_and_read(run_on_commit: RunOnCommit) -> None:
    client, post = make.mcp_actor(), make.post()
    before = make.live_hash()

    listed: Any = tools.list_agents(client, tools.ListAgents(scope="global"))
    with run_on_commit():
        begun: Any = tools.run_agent(
            client, tools.RunAgent(agent_id="seo-specialist", post_id=str(post.pk))
        )
    run: Any = tools.get_agent_run(client, tools.GetAgentRun(run_id=begun["id"]))

    assert [agent["id"] for agent in listed["items"]] == ["general-assistant"]
    assert (run["status"], len(run["staged"]), run["via"]) == ("succeeded", 5, "mcp")
    assert make.live_hash() == before


def test_without_a_scope_every_agent_is_listed() -> None:
    listed: Any = tools.list_agents(make.mcp_actor(), tools.ListAgents())

    assert {"general-assistant", "proofreader", "seo-specialist"} <= {
        agent["id"] for agent in listed["items"]
    }
