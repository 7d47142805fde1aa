"""Runs that use tools: their agents, and their toolbox without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.creation import create_run
from agents_app.runs.execution import RunToolbox, prepare_attempt
from content.models import Post
from proofroom.core.actor import Actor
from tests import make
from tests.agents.environment import write_agent

EVERY_SCOPE = ("dropdown", "global", "field", "posts.bulk")


def tooled(folder: Path, agent_id: str, *tools: str, scopes: tuple[str, ...] = EVERY_SCOPE) -> None:
    """Write an agent that may call these tools, by default all."""
    config = f"llmConfig: {{useMCP: true, allowedMCPTools: [{', '.join(tools)}]}}"
    write_agent(folder, agent_id, *scopes, extra=config)
    definitions.reload()


def working(agent_id: str, post: Post | None = None, **given: Any) -> AgentRun:
    """Create a run that a worker has just claimed."""
    given = {"scope": "dropdown" if post else "global", "actor": make.actor("admin"), **given}
    run = create_run(agent_id=agent_id, post_id=post.pk if post else None, **given)
    return claimed(run)


def claimed(run: AgentRun) -> AgentRun:
    AgentRun.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING, attempt=uuid4())
    run.refresh_from_db()
    return run


def toolbox(agent_id: str, post: Post | None = None, **given: Any) -> tuple[RunToolbox, AgentRun]:
    """Return the toolbox of an executing run, and the run."""
    run = working(agent_id, post, **given)
    return RunToolbox(prepare_attempt(run)), run


def names(box: RunToolbox) -> set[str]:
    return {spec.name for spec in box.specs()}


def form_run(agent_id: str, words: str) -> AgentRun:
    """Create a run started by a form submission."""
    return create_run(
        agent_id=agent_id,
        scope="form.submit",
        actor=Actor(user=make.agent_actor(agent_id).user, via="system", agent_id=agent_id),
        context={"untrusted": {"formSlug": "contact", "payload": {"message": words}}},
    )
