"""Agents that start agents: never themselves, and never without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import files as definitions
from agents_app.models import AgentRun
from content.models import Draft
from core.models import Event
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.conftest import RunOnCommit
from tests.fake_provider import Reply, serving

pytestmark = pytest.mark.django_db


def test_what_an_agent_saves_does_not_start_it_again(
    run_on_commit: RunOnCommit, agents_dir: Path, settings: Any
) -> None:
    write_agent(agents_dir, "narcissus", "dropdown", "post.ai-review.save")
    definitions.reload()

    with run_on_commit():
        make.staged(make.post(), {"metaTitle": "Mine"}, by=make.agent_actor("narcissus"))

    assert AgentRun.objects.count() == 0


def test_agents_that_start_each_other_stop_at_the_hop_limit(
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
