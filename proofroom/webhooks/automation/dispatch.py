"""Dispatch of events to workflows: one delivery for each that waits for them, in ascending order."""

from __future__ import annotations

import logging

from proofroom.core import outbox
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.webhooks.automation.definitions import WorkflowDefinition, channel_of, trigger_names
from proofroom.webhooks.automation.delivery_channel import HOPS_MAX, placeholder_values
from proofroom.webhooks.automation.queries import enabled_workflows
from proofroom.webhooks.dispatch import new_delivery, queue_all

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
