"""Workflows, switched on and off and tried out by people. Their definitions are files."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import events
from core.actor import Actor
from core.errors import NotFound
from core.json import JsonObject
from webhooks.automation.definitions import get_workflow
from webhooks.automation.lane import OFF, TEST
from webhooks.automation.schema import WorkflowDefinition
from webhooks.automation.starting import lane_of
from webhooks.delivering import new_delivery, queue_all
from webhooks.models import Delivery, DeliveryStatus, WorkflowSwitch
from webhooks.services.testing import sample
from webhooks.services.webhooks import allow


def find_workflow(workflow_id: str) -> WorkflowDefinition:
    """Raises `NotFound`."""
    found = get_workflow(workflow_id)
    if found is None:
        raise NotFound(
            _("No workflow is named %(workflow_id)r.") % {"workflow_id": workflow_id[:80]},
            code="unknown_workflow",
        )
    return found


@transaction.atomic
def switch_workflow(*, workflow_id: str, enabled: bool, actor: Actor) -> WorkflowDefinition:
    """Switch a workflow on or off, whatever its file says. Off, it sends nothing of what still waits."""
    allow(actor)
    workflow = find_workflow(workflow_id)
    WorkflowSwitch.objects.get_or_create(
        workflow_id=workflow_id, defaults={"is_enabled": workflow.enabled}
    )
    switch = WorkflowSwitch.objects.select_for_update().get(workflow_id=workflow_id)
    if switch.is_enabled == enabled:
        return workflow
    switch.is_enabled, switch.updated_by_id = enabled, actor.user.pk
    switch.save()
    if not enabled:
        _cancel_waiting(workflow_id)
    payload: JsonObject = {"workflowId": workflow_id, "enabled": enabled}
    events.record("workflow.switched", actor=actor, payload=payload)
    return workflow


@transaction.atomic
def test_workflow(*, workflow_id: str, actor: Actor) -> Delivery:
    """Send a sample of the first of its events to this one only, on or off. Raises `NotFound`."""
    allow(actor)
    workflow = find_workflow(workflow_id)
    kind = workflow.triggers[0]
    payload: JsonObject = {
        **sample(kind, workflow.filters),
        "workflowId": workflow.id,
        "sampleOf": kind,
    }
    event = events.record(TEST, actor=actor, payload=payload)
    delivery = new_delivery(event, lane_of(workflow.id), workflow_id=workflow.id)
    queue_all([delivery])
    return delivery


def _cancel_waiting(workflow_id: str) -> None:
    """What is under way ends as it may; the lane gives up what would be tried again."""
    waiting = Delivery.objects.filter(lane=lane_of(workflow_id), status=DeliveryStatus.PENDING)
    # In one order, as the sender does, so that the two never wait for each other.
    ids = list(waiting.select_for_update().order_by("pk").values_list("pk", flat=True))
    Delivery.objects.filter(pk__in=ids).exclude(event_name=TEST).update(
        status=DeliveryStatus.CANCELLED,
        next_attempt_at=None,
        claimed_until=None,
        finished_at=timezone.now(),
        last_error=OFF,
    )
