"""`/api/workflows`: which there are, on or off, and trying one out."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.body import Body, body_object, check
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.schema import PAGES
from core.api.views import ApiViewSet
from webhooks import presenters, queries
from webhooks.api import schema, workflows_schema
from webhooks.automation import presenter
from webhooks.automation.definitions import all_workflows
from webhooks.automation.reading import workflows
from webhooks.automation.schema import WorkflowDefinition
from webhooks.services.workflows import find_workflow, switch_workflow, test_workflow


class WorkflowSwitched(Body):
    """What to change of a workflow. Other keys that a GET answers are ignored: they stand in its file."""

    enabled: bool


class WorkflowViewSet(ApiViewSet):
    """Workflows: list, read, switch on and off, test."""

    path_schemas = workflows_schema.WORKFLOW_ID
    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "retrieve", "partial_update", "test"), "webhooks.manage"
    )
    conditional: ClassVar[frozenset[str]] = frozenset({"retrieve"})

    @extend_schema(parameters=PAGES, responses=workflows_schema.WorkflowListSchema)
    def list(self, request: Request) -> Response:
        """Workflows in ascending order, switched off or on."""
        page = page_of(request)
        found = all_workflows()
        rows = [presenter.workflow(item) for item in workflows(found[page.slice])]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(responses=workflows_schema.WorkflowSchema)
    def retrieve(self, request: Request, workflow_id: str) -> Response:
        """One workflow."""
        return _answer(find_workflow(workflow_id))

    @extend_schema(request=WorkflowSwitched, responses=workflows_schema.WorkflowSchema)
    def partial_update(self, request: Request, workflow_id: str) -> Response:
        """Switch a workflow on or off, whatever its file says. Off, it sends nothing of what still waits."""
        find_workflow(workflow_id)
        body = check(_written(request), WorkflowSwitched)
        found = switch_workflow(workflow_id=workflow_id, enabled=body.enabled, actor=self.actor)
        return _answer(found)

    @extend_schema(request=None, responses={200: schema.DeliverySchema})
    def test(self, request: Request, workflow_id: str) -> Response:
        """Send a sample of its first event to this workflow only, on or off."""
        row = test_workflow(workflow_id=workflow_id, actor=self.actor)
        return Response(presenters.delivery(queries.find_delivery(row.pk)))


def _answer(definition: WorkflowDefinition) -> Response:
    (found,) = workflows([definition])
    return Response(presenter.workflow(found))


def _written(request: Request) -> dict[str, object]:
    """Without what a GET answers and only the file says."""
    read_only = set(workflows_schema.WorkflowSchema().fields) - {"enabled"}
    return {name: value for name, value in body_object(request).items() if name not in read_only}
