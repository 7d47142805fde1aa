"""Dispatch of events to workflows: which are on, a delivery for each that waits, and the request of its file."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models import Max

from proofroom.core import outbox
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom.webhooks.automation.definitions import (
    WorkflowDefinition,
    all_workflows,
    channel_of,
    get_workflow,
    trigger_names,
)
from proofroom.webhooks.automation.templates import filled
from proofroom.webhooks.delivery_channels import (
    NothingToSend,
    OutgoingRequest,
    encode_body,
    event_body,
    shared_keys,
)
from proofroom.webhooks.dispatch import new_delivery, queue_all
from proofroom.webhooks.models import Delivery, DeliveryStatus, WorkflowSwitch


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow as it stands. A run is a delivery; `last` is the one of the latest event."""

    definition: WorkflowDefinition
    is_enabled: bool
    last: Delivery | None


def load_workflows(definitions: Sequence[WorkflowDefinition] | None = None) -> list[Workflow]:
    """Return these workflows, or all in ascending order. Three queries."""
    found = all_workflows() if definitions is None else definitions
    switches, last = load_switches(), last_runs(item.id for item in found)
    return [
        Workflow(item, switches.get(item.id, item.enabled), last.get(item.id)) for item in found
    ]


def last_runs(workflow_ids: Iterable[str]) -> dict[str, Delivery]:
    """Return the run of the latest event of each, by the workflow's id. Two queries."""
    channels = [channel_of(id_) for id_ in workflow_ids]
    runs = Delivery.objects.filter(lane__in=channels)
    latest = dict(runs.values_list("lane").annotate(last=Max("event")).order_by())
    rows = runs.filter(event__in=set(latest.values()))
    return {row.workflow_id: row for row in rows if latest.get(row.lane) == row.event_id}


def load_switches() -> dict[str, bool]:
    """Return what people switched, by id of the workflow."""
    return dict(WorkflowSwitch.objects.values_list("workflow_id", "is_enabled"))


def enabled_workflows() -> list[WorkflowDefinition]:
    """Return the workflows that are on, in ascending order. One query; none if there is no workflow."""
    workflows = all_workflows()
    switches = load_switches() if workflows else {}
    return [item for item in workflows if switches.get(item.id, item.enabled)]


def is_enabled(workflow_id: str) -> bool:
    """Return whether there is such a workflow, and it is on."""
    workflow = get_workflow(workflow_id)
    return workflow is not None and load_switches().get(workflow_id, workflow.enabled)


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


logger = logging.getLogger(__name__)


def subscribe_workflows() -> None:
    """Subscribe to the events that workflows can wait for. Called once, at start."""
    outbox.subscribe(
        trigger_names(), start_workflows, id="webhooks.automation.starting.start_workflows"
    )


def start_workflows(event: Event) -> None:
    """Queue a delivery for every workflow that is on and wants the event. Handled twice, it queues none twice."""
    if event.forgotten_at is not None:
        return
    wanting = [workflow for workflow in enabled_workflows() if event.name in workflow.triggers]
    if wanting and event.hop > HOPS_MAX:
        logger.error("%s starts no workflow: runs caused it over %s hops", event, event.hop)
        return
    queue_all(
        [
            new_delivery(event, channel_of(workflow.id), workflow_id=workflow.id)
            for workflow in wanting
            if wants(workflow, event)
        ]
    )


def wants(workflow: WorkflowDefinition, event: Event) -> bool:
    """Return whether the filters let the event through. Types and languages are of posts, form slugs of forms."""
    filters, data = workflow.filters, event.payload
    is_of_post = event.name.startswith("post.")
    asked: tuple[tuple[tuple[str, ...], str, bool], ...] = (
        (filters.types, "type", is_of_post),
        (filters.locales, "locale", is_of_post),
        (filters.form_slugs, "formSlug", event.name.startswith("form.")),
    )
    if any(applies and chosen and data.get(name) not in chosen for chosen, name, applies in asked):
        return False
    values: JsonObject = placeholder_values(event, workflow) if filters.conditions else {}
    return all(condition.holds(values) for condition in filters.conditions)
