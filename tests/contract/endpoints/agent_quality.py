"""Quality of agents and AI clients, and evaluations."""

from __future__ import annotations

from decimal import Decimal

from agents_app.models import AgentRun, Evaluation, EvaluationItem
from agents_app.runs.creation import create_run
from content.layers import reject
from content.models import Layer
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    post = make.post()
    run = create_run(
        agent_id="seo-specialist", scope="dropdown", actor=make.actor("admin"), post_id=post.pk
    )
    make.staged(post, {"excerpt": "Staged"}, by=make.agent_actor("seo-specialist", str(run.pk)))
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("admin"), note="Too long.")
    job = Evaluation.objects.create(
        agent_id="seo-specialist",
        model="demo:",
        champion={"model": "demo:demo", "prompt": ""},
        challenger={"model": "demo:demo", "prompt": ""},
        budget=Decimal(1),
        total=1,
    )
    EvaluationItem.objects.create(evaluation=job, position=0, run=run)
    # Decided, so that an evaluation has a question.
    AgentRun.objects.filter(pk=run.pk).update(status="succeeded", staged=["post.excerpt"])
    return {"post_id": str(post.pk), "evaluation_id": str(job.pk)}


def grow(number: int) -> None:
    make.copies(Evaluation.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint("GET /api/quality", ADMIN, invalid=("?from=yesterday", "from")),
    Endpoint("GET /api/quality/changes", ADMIN, invalid=("?outcome=lost", "outcome")),
    Endpoint("GET /api/evaluations", ADMIN, grow=grow),
    Endpoint(
        "POST /api/evaluations",
        ADMIN,
        201,
        body={"agentId": "seo-specialist", "model": "demo:", "budget": 1},
        invalid=({"agentId": "seo-specialist", "model": "nonsense", "budget": 1}, "model"),
    ),
    Endpoint("GET /api/evaluations/<evaluation_id>", ADMIN),
    Endpoint("POST /api/evaluations/<evaluation_id>/cancel", ADMIN),
]
