"""Services that switch and test workflows. Their definitions are files."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject
from proofroom.webhooks.delivery_queue import new_delivery, queue_all
from proofroom.webhooks.models import Delivery, DeliveryStatus, WorkflowSwitch
from proofroom.webhooks.services.test_calls import sample_payload
from proofroom.webhooks.services.webhooks import require_webhook_manager
from proofroom.webhooks.workflow_definitions import (
    SWITCHED_OFF,
    TEST_EVENT,
    WorkflowDefinition,
    get_workflow,
    workflow_channel,
)


def find_workflow(workflow_id: str) -> WorkflowDefinition:
    """Return the workflow with this id. Raises `NotFound`."""
    found = get_workflow(workflow_id)
    if found is None:
        raise NotFound(
            _("No workflow is named %(workflow_id)r.") % {"workflow_id": workflow_id[:80]},
            code="unknown_workflow",
        )
    return found


@transaction.atomic
def switch_workflow(*, workflow_id: str, enabled: bool, actor: Actor) -> WorkflowDefinition:
    """Switch a workflow on or off. This overrides its file. Off cancels what still waits."""
    require_webhook_manager(actor)
    workflow = find_workflow(workflow_id)
    # The row must exist before it can be locked.
    WorkflowSwitch.objects.get_or_create(
        workflow_id=workflow_id, defaults={"is_enabled": workflow.enabled}
    )
    switch = WorkflowSwitch.objects.select_for_update().get(workflow_id=workflow_id)
    if switch.is_enabled == enabled:
        return workflow
    switch.is_enabled, switch.updated_by_id = enabled, actor.user.pk
    switch.save()
    if not enabled:
        cancel_waiting(workflow_id)
    payload: JsonObject = {"workflowId": workflow_id, "enabled": enabled}
    outbox.record("workflow.switched", actor=actor, payload=payload)
    return workflow


@transaction.atomic
def test_workflow(*, workflow_id: str, actor: Actor) -> Delivery:
    """Send a sample of its first event to this workflow only, on or off. Raises `NotFound`."""
    require_webhook_manager(actor)
    workflow = find_workflow(workflow_id)
    kind = workflow.triggers[0]
    payload: JsonObject = {
        **sample_payload(kind, workflow.filters),
        "workflowId": workflow.id,
        "sampleOf": kind,
    }
    event = outbox.record(TEST_EVENT, actor=actor, payload=payload)
    delivery = new_delivery(event, workflow_channel(workflow.id), workflow_id=workflow.id)
    queue_all([delivery])
    return delivery


def cancel_waiting(workflow_id: str) -> None:
    """Cancel waiting deliveries. A running call ends normally; the channel cancels its retry."""
    waiting = Delivery.objects.filter(
        lane=workflow_channel(workflow_id), status=DeliveryStatus.PENDING
    )
    # Locked in order of id, as in the sender, so that the two do not deadlock.
    ids = list(waiting.select_for_update().order_by("pk").values_list("pk", flat=True))
    Delivery.objects.filter(pk__in=ids).exclude(event_name=TEST_EVENT).update(
        status=DeliveryStatus.CANCELLED,
        next_attempt_at=None,
        claimed_until=None,
        finished_at=timezone.now(),
        last_error=SWITCHED_OFF,
    )
