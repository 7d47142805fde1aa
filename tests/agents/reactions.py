"""Agents with reactions, and finished runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun
from agents_app.reactions.outcomes import outcome_of, reactions_of
from agents_app.runs.run_log import record_run_end
from tests import make


def write_reacting(
    folder: Path, *reactions: Any, agent_id: str = "reactor", scopes: Any = None, **llm: Any
) -> None:
    """Write an agent file with these reactions."""
    values = {
        "name": "The “Reactor”",
        "llmConfig": {"systemPrompt": "React.", **llm},
        "scopes": scopes or [{"scope": "dropdown"}, {"scope": "global"}],
        "reactions": list(reactions),
    }
    (folder / f"{agent_id}.json").write_text(json.dumps(values))
    definitions.reload()


def ended(status: str = "succeeded", *, agent_id: str = "reactor", **fields: Any) -> AgentRun:
    """Create a finished run, with its event."""
    if "post" not in fields:
        fields["post"] = make.post()
    by = make.user("editor")
    with transaction.atomic():
        run = AgentRun.objects.create(
            agent_id=agent_id,
            scope=fields.pop("scope", "dropdown"),
            status=status,
            by=by,
            by_name=by.username,
            via="api",
            finished_at=timezone.now(),
            **fields,
        )
        record_run_end(run)
    return run


def outcomes(run: AgentRun) -> list[tuple[int, str, str, int, str]]:
    """Return number, type, status, attempts and error of each reaction to the run."""
    found = [(row, outcome_of(row)) for row in reactions_of(run)]
    return [(row.number, row.kind, now.status, now.attempts, now.error) for row, now in found]


def webhook(url: str, trigger: str = "always", **config: Any) -> dict[str, Any]:
    return {"type": "webhook", "trigger": trigger, "config": {"url": url, **config}}


def chat(template: str, trigger: str = "always", **config: Any) -> dict[str, Any]:
    return {"type": "chat", "trigger": trigger, "config": {"template": template, **config}}


def tool(name: str, trigger: str = "always", **params: Any) -> dict[str, Any]:
    config = {"toolName": name, "toolParams": params}
    return {"type": "mcp_tool", "trigger": trigger, "config": config}


def save(**fields: Any) -> dict[str, Any]:
    """Return a reaction that proposes a change for the run's own post."""
    return tool(
        "save_post_ai_review", postId="{{data.postId}}", patch=fields or {"excerpt": "By {{agent}}"}
    )
