"""What a workflow tells of an event."""

from __future__ import annotations

from typing import Final

from core.json import Json, JsonObject
from core.models import Event
from webhooks import bodies
from webhooks.automation.schema import WorkflowDefinition
from webhooks.automation.templates import filled

HOPS_MAX: Final = 3
"""What runs caused, one after another, beyond that starts nothing: two systems could call each other for ever."""
_POST_FIELDS: Final = ("id", "type", "locale", "slug", "title", "status", "url")


def envelope_of(event: Event) -> JsonObject:
    """The whole of an event: what happened, to what, by whom, and what led to it.

    `order` grows with every event, so that a receiver can tell which of two came first.
    """
    whole: JsonObject = {
        **bodies.envelope(event),
        "version": event.version,
        "order": event.pk,
        "actor": {
            "id": event.actor_id,
            "name": event.actor_name,
            "via": event.via,
            "agentId": event.agent_id or None,
        },
        "cause": causes_of(event),
    }
    post = post_of(event)
    return {**whole, "post": post} if post else whole


def post_of(event: Event) -> JsonObject:
    """The post that an event is about, as it was then; empty where it is about none. A test has a sample."""
    is_sample = str(event.payload.get("sampleOf", "")).startswith("post.")
    if event.post_id is None and not is_sample:
        return {}
    known: JsonObject = {
        name: event.payload[name] for name in _POST_FIELDS if name in event.payload
    }
    return known if is_sample else {**known, "id": str(event.post_id)}


def causes_of(event: Event) -> list[Json]:
    """What led to an event, the nearest first; only what a run caused has a cause, and chains are short."""
    found: list[Json] = []
    cause_id = event.cause_id
    while cause_id is not None and len(found) <= HOPS_MAX:
        cause = Event.objects.filter(pk=cause_id).only("uid", "name", "run_id", "cause_id").first()
        if cause is None:
            break
        found.append({"id": str(cause.uid), "event": cause.name, "runId": cause.run_id or None})
        cause_id = cause.cause_id
    return found


def values_of(event: Event, workflow: WorkflowDefinition) -> JsonObject:
    """What placeholders and conditions find."""
    whole = envelope_of(event)
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


def body_of(event: Event, workflow: WorkflowDefinition) -> bytes:
    """What is sent: the file's payload with its placeholders filled, else the whole of the event."""
    if workflow.payload is None:
        return bodies.encoded(envelope_of(event))
    values = values_of(event, workflow)
    return bodies.encoded({name: filled(part, values) for name, part in workflow.payload.items()})
