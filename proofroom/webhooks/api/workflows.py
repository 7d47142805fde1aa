"""`/api/workflows`: workflows, their switches and tests."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from drf_spectacular.utils import extend_schema
from pydantic import AliasPath, BeforeValidator, Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, list_of
from proofroom.core.api.body import Body, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet
from proofroom.core.conditions import Operator
from proofroom.core.definition_files import ID_MAX, ID_PATTERN
from proofroom.webhooks import queries
from proofroom.webhooks.api.deliveries import DeliveryAnswer
from proofroom.webhooks.models.webhook import LastDeliveryAnswer, mask_headers
from proofroom.webhooks.services.workflows import find_workflow, switch_workflow, test_workflow
from proofroom.webhooks.workflow_definitions import (
    WorkflowDefinition,
    all_workflows,
    load_workflows,
)

WORKFLOW_ID: Final = {
    "workflow_id": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX},
}


class ConditionAnswer(Answer):
    """A condition on the value at a dotted path."""

    field: str
    operator: Operator
    value: Any


class WorkflowFiltersAnswer(Answer):
    """The events that count; empty lists allow all."""

    types: list[str]
    locales: list[str]
    form_slugs: list[str]
    conditions: list[ConditionAnswer]


class WorkflowAnswer(Answer):
    """A workflow: its file, and if it is on. Header values are never answered."""

    id: str = Field(validation_alias=AliasPath("definition", "id"))
    name: str = Field(validation_alias=AliasPath("definition", "name"))
    description: str = Field(validation_alias=AliasPath("definition", "description"))
    enabled: bool = Field(validation_alias="is_enabled")
    triggers: list[str] = Field(validation_alias=AliasPath("definition", "triggers"))
    order: int = Field(validation_alias=AliasPath("definition", "order"))
    filters: WorkflowFiltersAnswer = Field(validation_alias=AliasPath("definition", "filters"))
    url: str = Field(validation_alias=AliasPath("definition", "url"))
    headers: Annotated[dict[str, str], BeforeValidator(mask_headers)] = Field(
        validation_alias=AliasPath("definition", "headers")
    )
    payload: dict[str, Any] | None = Field(
        validation_alias=AliasPath("definition", "payload"),
        description="The body to send, with placeholders; null means the whole event.",
    )
    last_run: LastDeliveryAnswer | None = Field(validation_alias="last")


class WorkflowSwitched(Body, answered_by=WorkflowAnswer):
    """Changes of a workflow. Other keys that a GET answers are ignored: its file defines them."""

    enabled: bool


class WorkflowViewSet(ApiViewSet):
    """Workflows: list, read, switch on and off, test."""

    path_schemas = WORKFLOW_ID
    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "retrieve", "partial_update", "test"), "webhooks.manage"
    )
    conditional: ClassVar[frozenset[str]] = frozenset({"retrieve"})

    @extend_schema(
        parameters=PAGES, responses=list_of(WorkflowAnswer, "Workflows, in ascending order.")
    )
    def list(self, request: Request) -> Response:
        """List workflows in ascending order, enabled or not."""
        page = page_of(request)
        found = all_workflows()
        rows = [WorkflowAnswer.model_validate(item) for item in load_workflows(found[page.slice])]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(responses=WorkflowAnswer)
    def retrieve(self, request: Request, workflow_id: str) -> Response:
        """One workflow."""
        return answer_workflow(find_workflow(workflow_id))

    @extend_schema(request=WorkflowSwitched, responses=WorkflowAnswer)
    def partial_update(self, request: Request, workflow_id: str) -> Response:
        """Switch a workflow on or off. This overrides its file. Off cancels what still waits."""
        find_workflow(workflow_id)
        body = read_body(request, WorkflowSwitched)
        found = switch_workflow(workflow_id=workflow_id, enabled=body.enabled, actor=self.actor)
        return answer_workflow(found)

    @extend_schema(request=None, responses={200: DeliveryAnswer})
    def test(self, request: Request, workflow_id: str) -> Response:
        """Send a sample of its first event to this workflow only, on or off."""
        row = test_workflow(workflow_id=workflow_id, actor=self.actor)
        return Response(DeliveryAnswer.model_validate(queries.find_delivery(row.pk)))


def answer_workflow(definition: WorkflowDefinition) -> Response:
    """Answer a workflow with its switch and its last run."""
    (found,) = load_workflows([definition])
    return Response(WorkflowAnswer.model_validate(found))
