"""The channel of workflows: the request that a workflow's file makes of an event."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom.webhooks.automation.definitions import WorkflowDefinition, get_workflow
from proofroom.webhooks.automation.queries import is_enabled
from proofroom.webhooks.automation.templates import filled
from proofroom.webhooks.delivery_channels import (
    NothingToSend,
    OutgoingRequest,
    encode_body,
    event_body,
    shared_keys,
)
from proofroom.webhooks.models import Delivery, DeliveryStatus

TEST_EVENT: Final = "workflow.test"
SWITCHED_OFF: Final = "The workflow is switched off."
FILE_GONE: Final = "The workflow's file is not there any more, or cannot be read."
BODY_MAX_BYTES: Final = 1_000_000
HOPS_MAX: Final = 3
"""What runs caused, one after another, beyond that starts nothing: two systems could call each other for ever."""
POST_FIELDS: Final = ("id", "type", "locale", "slug", "title", "status", "url")


class WorkflowChannel:
    """Calls the address of a workflow with what its file makes of the event."""

    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        """Make the request by the file as it is now. Raises `NothingToSend`."""
        if delivery.event.forgotten_at is not None:
            raise NothingToSend("The words of this event were deleted.")
        workflow = get_workflow(delivery.workflow_id)
        if workflow is None:
            raise NothingToSend(FILE_GONE)
        # A test tries out what is not on yet, and what was sent stays to be read.
        is_to_be_sent = delivery.status in (DeliveryStatus.PENDING, DeliveryStatus.SENDING)
        if is_to_be_sent and delivery.event_name != TEST_EVENT and not is_enabled(workflow.id):
            raise NothingToSend(SWITCHED_OFF)
        if workflow.payload is None:
            body = encode_body(full_event(delivery.event))
        else:
            values = placeholder_values(delivery.event, workflow)
            body = encode_body(
                {name: filled(part, values) for name, part in workflow.payload.items()}
            )
        if len(body) > BODY_MAX_BYTES:
            raise NothingToSend(
                f"What the workflow makes of this event has over {BODY_MAX_BYTES:,} bytes."
            )
        secrets: JsonObject = {"secret": dict(settings.CMS_ENV.workflow_secrets)}
        return OutgoingRequest(
            url=workflow.url,
            headers={
                name: str(filled(value, secrets) or "") for name, value in workflow.headers.items()
            },
            body=body,
            secrets=tuple(settings.CMS_ENV.workflow_secrets.values()),
            keys=shared_keys(),
        )


def full_event(event: Event) -> JsonObject:
    """Return the whole of an event: what happened, to what, by whom, and what led to it.

    `order` grows with every event, so that a receiver can tell which of two came first.
    """
    whole: JsonObject = {
        **event_body(event),
        "version": event.version,
        "order": event.pk,
        "actor": {
            "id": event.actor_id,
            "name": event.actor_name,
            "via": event.via,
            "agentId": event.agent_id or None,
        },
        "cause": load_causes(event),
    }
    post = post_fields(event)
    return {**whole, "post": post} if post else whole


def post_fields(event: Event) -> JsonObject:
    """Return the post that an event is about, as it was then; empty where it is about none. A test has a sample."""
    is_sample = str(event.payload.get("sampleOf", "")).startswith("post.")
    if event.post_id is None and not is_sample:
        return {}
    known: JsonObject = {name: event.payload[name] for name in POST_FIELDS if name in event.payload}
    return known if is_sample else {**known, "id": str(event.post_id)}


def load_causes(event: Event) -> list[Json]:
    """Return what led to an event, the nearest first; only what a run caused has a cause, and chains are short."""
    found: list[Json] = []
    cause_id = event.cause_id
    while cause_id is not None and len(found) <= HOPS_MAX:
        cause = Event.objects.filter(pk=cause_id).only("uid", "name", "run_id", "cause_id").first()
        if cause is None:
            break
        found.append({"id": str(cause.uid), "event": cause.name, "runId": cause.run_id or None})
        cause_id = cause.cause_id
    return found


def placeholder_values(event: Event, workflow: WorkflowDefinition) -> JsonObject:
    """Return what placeholders and conditions refer to."""
    whole = full_event(event)
    named: JsonObject = {
        "id": whole["id"],
        "name": whole["event"],
        "createdAt": whole["createdAt"],
        "version": whole["version"],
        "order": whole["order"],
    }
    return {
        "event": named,
        "data": whole["data"],
        "actor": whole["actor"],
        "post": whole.get("post"),
        "cause": whole["cause"],
        "workflow": {"id": workflow.id, "name": workflow.name},
    }
