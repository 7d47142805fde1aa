"""Events start workflows: one delivery for each that waits for them, in ascending order."""

from __future__ import annotations

import logging

from core import events
from core.json import JsonObject
from core.models import Event
from webhooks.automation.envelope import HOPS_MAX, values_of
from webhooks.automation.schema import WorkflowDefinition, trigger_names
from webhooks.automation.switches import enabled_workflows
from webhooks.delivering import new_delivery, queue_all

logger = logging.getLogger(__name__)


def connect() -> None:
    """Subscribe to the events that workflows can wait for. Called once, at start."""
    events.subscribe(
        trigger_names(), start_workflows, id="webhooks.automation.starting.start_workflows"
    )


def start_workflows(event: Event) -> None:
    """Queue a delivery for every workflow that is on and wants the event. Told twice, it queues none twice."""
    if event.forgotten_at is not None:
        return
    wanting = [workflow for workflow in enabled_workflows() if event.name in workflow.triggers]
    if wanting and event.hop > HOPS_MAX:
        logger.error("%s starts no workflow: runs caused it over %s hops", event, event.hop)
        return
    queue_all(
        [
            new_delivery(event, lane_of(workflow.id), workflow_id=workflow.id)
            for workflow in wanting
            if wants(workflow, event)
        ]
    )


def lane_of(workflow_id: str) -> str:
    return f"workflow:{workflow_id}"


def wants(workflow: WorkflowDefinition, event: Event) -> bool:
    """Whether the filters let the event through. Types and languages are of posts, form slugs of forms."""
    filters, data = workflow.filters, event.payload
    is_of_post = event.name.startswith("post.")
    asked: tuple[tuple[tuple[str, ...], str, bool], ...] = (
        (filters.types, "type", is_of_post),
        (filters.locales, "locale", is_of_post),
        (filters.form_slugs, "formSlug", event.name.startswith("form.")),
    )
    if any(applies and chosen and data.get(name) not in chosen for chosen, name, applies in asked):
        return False
    values: JsonObject = values_of(event, workflow) if filters.conditions else {}
    return all(condition.holds(values) for condition in filters.conditions)
