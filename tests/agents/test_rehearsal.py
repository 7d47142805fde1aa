"""Rehearsals: what would start on a post, with nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import limit_agent, switch_agent
from agents_app.models import AgentRun
from agents_app.rehearsal import MAX_RUNS, Rehearsal, rehearse
from proofroom.accounts.models import User
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.agents.reactions import tool, webhook, write_reacting
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def planned(found: Rehearsal) -> list[tuple[int, str, int, int | None, str]]:
    return [(run.order, run.agent.id, run.hop, run.after, run.cause) for run in found.runs]


def contents() -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables."""
    return {
        model._meta.label: sorted(model._base_manager.values_list(), key=repr)
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed
    }


def test_a_rehearsal_writes_queues_and_sends_nothing(
    agents_dir: Path, monkeypatch: pytest.MonkeyPatch, signed_in: SignedIn
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"queued {args}")

    write_agent(agents_dir, "reader", "post.publish")
    write_reacting(
        agents_dir,
        webhook("https://example.org/hook"),
        tool("run_agent", agentId="reader", postId="{{data.postId}}"),
        scopes=[{"scope": "post.publish"}],
    )
    post, actor = make.post(), make.actor("editor")
    browser, api = signed_in("editor"), ApiClient("editor")
    body = {"event": "post.publish", "postId": str(post.pk)}
    monkeypatch.setattr("proofroom.core.task_queue.queue_task", refuse)
    monkeypatch.setattr("proofroom.core.outbox.wake_ups.wake_dispatch", refuse)
    before = contents()

    with CaptureQueriesContext(connection) as queries:
        found = rehearse(post_id=post.pk, actor=actor, event="post.publish")
    page = browser.get(
        f"/admin/agents_app/agentswitch/rehearsal/?post={post.pk}&start=event:post.publish"
    )
    answer = api.send("POST", "/api/rehearsals", body)

    # The shipped agents may listen, too; the agents of this test have no account yet, and get none.
    assert {"reader", "reactor"} <= {run.agent.id for run in found.runs}
    assert (page.status_code, answer.status_code) == (200, 200)
    assert [one["sql"] for one in queries if not one["sql"].startswith("SELECT")] == []
    assert contents() == before


def test_the_plan_is_what_then_happens(
    agents_dir: Path, run_on_commit: RunOnCommit, settings: Any
) -> None:
    write_agent(agents_dir, "second", "post.publish@2")
    write_agent(agents_dir, "first", "post.publish@1")
    set_env(settings, cms_agents_dir=agents_dir)
    post = make.post()

    found = rehearse(post_id=post.pk, actor=make.actor("editor"), event="post.publish")

    own = [run.agent.id for run in found.runs if run.agent.id in ("first", "second")]
    with run_on_commit():
        another = make.post("Another")
    rows = AgentRun.objects.filter(agent_id__in=own, post=another).order_by("position")
    assert own == ["first", "second"] == [row.agent_id for row in rows]


def test_the_consequences_follow_the_chain_to_its_limit(agents_dir: Path) -> None:
    write_agent(agents_dir, "ping", "post.publish", "post.ai-review.save")
    write_agent(agents_dir, "pong", "post.ai-review.save")
    switch_agent(agent_id="seo-specialist", enabled=False, actor=make.actor("admin"))

    found = rehearse(post_id=make.post().pk, actor=make.actor("editor"), event="post.publish")

    own = [one for one in planned(found) if one[1] in ("ping", "pong")]
    assert [(agent, hop) for _, agent, hop, _, _ in own] == [
        ("ping", 0),
        ("pong", 1),
        ("ping", 2),
        ("pong", 3),
    ]
    assert [cause for *_, cause in own] == ["post.publish"] + ["post.ai-review.save"] * 3
    assert own[1][3] == own[0][0], "pong would start after ping"
    stopped = [one for one in found.skipped if one.agent.id == "ping"]
    assert [one.reason for one in stopped] == ["At most 3 runs may start one another."]


def test_reactions_start_the_agents_they_name(agents_dir: Path) -> None:
    write_agent(agents_dir, "quiet", "dropdown")
    write_reacting(
        agents_dir,
        tool("run_agent", "on_error", agentId="quiet", postId="{{data.postId}}"),
        tool("run_agent", agentId="quiet", postId="00000000-0000-4000-8000-000000000000"),
        webhook("https://example.org/secret/hook"),
    )

    found = rehearse(post_id=make.post().pk, actor=make.actor("editor"), agent_id="reactor")

    runs = [run for run in found.runs if run.cause in ("", "run_agent")]
    assert [(run.agent.id, run.when.value) for run in runs] == [
        ("reactor", "always"),
        ("quiet", "on_error"),
    ]
    assert [(one.type, one.target) for one in runs[0].reactions] == [
        ("mcp_tool", "run_agent"),
        ("mcp_tool", "run_agent"),
        ("webhook", "example.org"),
    ]


def test_agents_that_would_not_start_are_named_with_the_reason(agents_dir: Path) -> None:
    for name in ("idle", "elsewhere", "locked", "ready"):
        write_agent(agents_dir, name, "post.publish")
    definitions.reload()
    admin = make.actor("admin")
    switch_agent(agent_id="idle", enabled=False, actor=admin)
    limit_agent(agent_id="elsewhere", scope=ContentScope(locales=frozenset({"de"})), actor=admin)
    make.agent_actor("locked")
    User.objects.filter(agent_id="locked").update(is_active=False)

    found = rehearse(post_id=make.post().pk, actor=make.actor("editor"), event="post.publish")

    reasons = {one.agent.id: one.reason for one in found.skipped if one.after is None}
    assert reasons["idle"] == "The agent is turned off."
    assert reasons["elsewhere"] == "The agent is limited to other content."
    assert reasons["locked"] == "Its account is turned off."
    assert "ready" in {run.agent.id for run in found.runs}


def test_many_ways_end_at_the_most_runs(agents_dir: Path) -> None:
    calls = [tool("run_agent", agentId="reactor", postId="{{data.postId}}") for _ in range(5)]
    write_reacting(agents_dir, *calls)

    found = rehearse(post_id=make.post().pk, actor=make.actor("editor"), agent_id="reactor")

    assert (len(found.runs), found.is_cut) == (MAX_RUNS, True)


def test_the_answer_has_agent_order_and_cost(agents_dir: Path, settings: Any) -> None:
    write_agent(
        agents_dir, "writer", "post.publish", extra="llmConfig: {options: {maxTokens: 4000}}"
    )
    set_env(settings, ai_provider_openai_api_key="sk-none", cms_agents_dir=agents_dir)
    post = make.post()

    told = (
        ApiClient("editor")
        .send("POST", "/api/rehearsals", {"agentId": "writer", "postId": str(post.pk)})
        .json()
    )

    first = told["data"][0]
    assert (first["agentId"], first["order"], first["scope"]) == ("writer", 1, "post.publish")
    assert 0 < first["cost"] < first["mostCost"]


def test_unknown_names_are_refused() -> None:
    post, editor = make.post(), make.actor("editor")
    with pytest.raises(RuleViolation, match="is not an event"):
        rehearse(post_id=post.pk, actor=editor, event="post.eaten")
    with pytest.raises(RuleViolation, match="either event or agentId"):
        rehearse(post_id=post.pk, actor=editor, event="post.publish", agent_id="translator")
    with pytest.raises(NotFound):
        rehearse(post_id=post.pk, actor=editor, agent_id="nobody")
    with pytest.raises(NotFound):
        rehearse(post_id="x", actor=editor, event="post.publish")
    with pytest.raises(NotAllowed):
        rehearse(post_id=post.pk, actor=make.actor("translator"), event="post.publish")
    assert rehearse(post_id=post.pk, actor=editor, event="user.changed").runs == []


def test_the_page_is_reached_from_the_post_and_the_agents(signed_in: SignedIn) -> None:
    post, browser = make.post(), signed_in("admin")
    address = "/admin/agents_app/agentswitch/rehearsal/"
    assert (
        f"{address}?post={post.pk}"
        in browser.get(f"/admin/content/post/{post.pk}/change/").content.decode()
    )
    assert address in browser.get("/admin/agents_app/agentswitch/").content.decode()
    shown = browser.get(f"{address}?post={post.pk}&start=agent:seo-specialist").content.decode()
    assert "What would start" in shown
    assert "Demo, free of charge" in shown
