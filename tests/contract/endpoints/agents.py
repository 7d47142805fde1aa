"""Agents and their runs."""

from __future__ import annotations

from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from tests import make
from tests.contract.endpoint import ADMIN, EDITORS, SECRETS, Endpoint, Names


def scene() -> Names:
    post = make.post()
    run = create_run(
        agent_id="seo-specialist", scope="dropdown", actor=make.actor("admin"), post_id=post.pk
    )
    make.staged(post, {"excerpt": "Staged"}, by=make.agent_actor("seo-specialist", str(run.pk)))
    return {
        "post_id": str(post.pk),
        "agent_id": "seo-specialist",
        "run_id": str(run.pk),
        "global_id": "general-assistant",
    }


def grow(number: int) -> None:
    make.copies(AgentRun.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint("GET /api/agents", EDITORS, invalid=("?scope=nowhere", "scope")),
    Endpoint("GET /api/agents/<agent_id>", EDITORS),
    Endpoint(
        "PATCH /api/agents/<agent_id>",
        ADMIN,
        body={"enabled": True},
        invalid=({"enabled": "yes"}, "enabled"),
    ),
    Endpoint(
        "POST /api/agents/<global_id>/run",
        ADMIN,
        201,
        body={},
        invalid=({"context": 1}, "context"),
    ),
    Endpoint(
        "POST /api/posts/<post_id>/agents/<agent_id>/run",
        EDITORS,
        201,
        body={},
        invalid=({"scope": "global"}, "scope"),
    ),
    Endpoint(
        "POST /api/posts/bulk-agents/<agent_id>/run",
        ADMIN,
        201,
        body={"ids": ["<post_id>"]},
        invalid=({"ids": []}, "ids"),
    ),
    Endpoint("POST /api/public/agents/<agent_id>/run", SECRETS, None, is_missing_404=False),
    Endpoint(
        "POST /api/rehearsals",
        EDITORS,
        body={"agentId": "<agent_id>", "postId": "<post_id>"},
        invalid=({"postId": "<post_id>"}, "event"),
    ),
    Endpoint("GET /api/agent-runs", EDITORS, invalid=("?status=no", "status"), grow=grow),
    Endpoint("GET /api/agent-runs/<run_id>", EDITORS),
    Endpoint("POST /api/agent-runs/<run_id>/cancel", EDITORS),
    Endpoint("POST /api/agent-runs/<run_id>/revert", EDITORS),
]
