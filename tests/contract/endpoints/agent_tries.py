"""Retries, transcripts and batches of runs."""

from __future__ import annotations

from agents_app.batches.lifecycle import create_bulk_runs
from agents_app.models import AgentBatch, AgentRun, RunMessage
from agents_app.runs.creation import create_run
from tests import make
from tests.contract.endpoint import ADMIN, EDITORS, Endpoint, Names


def scene() -> Names:
    post = make.post()
    admin = make.actor("admin")
    asked = create_run(
        agent_id="general-assistant",
        scope="field",
        actor=admin,
        post_id=post.pk,
        field_key="post.metaTitle",
        stages_value=False,
    )
    AgentRun.objects.filter(pk=asked.pk).update(status="succeeded", value="A better title")
    # If runs are executed immediately, there are messages already.
    said = {"role": "system", "text": "You are an assistant."}
    RunMessage.objects.get_or_create(said, run=asked, number=1)
    made = create_bulk_runs(agent_id="translator", post_ids=[str(post.pk)], actor=admin)
    done = create_bulk_runs(agent_id="translator", post_ids=[str(post.pk)], actor=admin)
    AgentRun.objects.filter(batch=done.batch).update(status="succeeded")
    return {
        "run_id": str(asked.pk),
        "batch_id": str(made.batch.pk),
        "done_batch_id": str(done.batch.pk),
    }


def grow_messages(number: int) -> None:
    first = RunMessage.objects.earliest("pk")
    last = RunMessage.objects.count()
    RunMessage.objects.bulk_create(
        RunMessage(run_id=first.run_id, number=last + place, role="user", text="More.")
        for place in range(1, number + 1)
    )


def grow_batches(number: int) -> None:
    make.copies(AgentBatch.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint(
        "POST /api/agent-runs/<run_id>/retry",
        EDITORS,
        201,
        body={"note": "Shorter, please."},
        invalid=({"note": "x" * 2001}, "note"),
    ),
    Endpoint("GET /api/agent-runs/<run_id>/candidates", EDITORS),
    Endpoint("POST /api/agent-runs/<run_id>/stage", EDITORS),
    Endpoint("GET /api/agent-runs/<run_id>/transcript", ADMIN, grow=grow_messages),
    Endpoint("GET /api/agent-batches", EDITORS, grow=grow_batches),
    Endpoint("GET /api/agent-batches/<batch_id>", EDITORS),
    Endpoint("POST /api/agent-batches/<batch_id>/cancel", ADMIN),
    Endpoint("POST /api/agent-batches/<done_batch_id>/revert", ADMIN),
]
