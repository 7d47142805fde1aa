"""Workflows: files, switched on and off."""

from __future__ import annotations

from proofroom.webhooks.services.workflows import test_workflow
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names

WORKFLOW = "review-waiting"


def scene() -> Names:
    test_workflow(workflow_id=WORKFLOW, actor=make.actor("admin"))
    return {"workflow_id": WORKFLOW}


ENDPOINTS = [
    Endpoint("GET /api/workflows", ADMIN, invalid=("?page=0", "page")),
    Endpoint("GET /api/workflows/<workflow_id>", ADMIN),
    Endpoint(
        "PATCH /api/workflows/<workflow_id>",
        ADMIN,
        body={"enabled": True},
        invalid=({"enabled": "yes"}, "enabled"),
    ),
    Endpoint("POST /api/workflows/<workflow_id>/test", ADMIN),
]
