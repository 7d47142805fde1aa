"""Causes and consequences of runs of agents."""

from __future__ import annotations

from agents_app.models import RunReaction
from tests.contract.endpoint import EDITORS, Endpoint, Names
from tests.contract.endpoints import agents


def scene() -> Names:
    names = agents.scene()
    RunReaction.objects.create(
        run_id=names["run_id"], number=1, kind="webhook", target="receiver.example"
    )
    return names


def grow(number: int) -> None:
    last = RunReaction.objects.latest("number")
    RunReaction.objects.bulk_create(
        RunReaction(run_id=last.run_id, number=last.number + 1 + place, kind="chat")
        for place in range(number)
    )


ENDPOINTS = [
    Endpoint("GET /api/agent-runs/<run_id>/chain", EDITORS),
    Endpoint("GET /api/agent-runs/<run_id>/reactions", EDITORS, grow=grow),
]
