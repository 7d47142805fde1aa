"""Dispatch of events: queues a delivery for each webhook and workflow that wants an event.

Deliveries are stored in the transaction that marks the event as handled.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from django.db.models import Exists
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.actor import MAX_HOPS
from proofroom.core.database.compiled_queries import CompiledQuery, instance_from_row
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.webhooks.delivery_queue import MAX_AHEAD, held_leases, new_delivery, queue_all
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.retention import forget_events
from proofroom.webhooks.workflow_definitions import (
    WorkflowDefinition,
    all_workflows,
    enabled_workflows,
    placeholder_values,
    trigger_names,
    workflow_channel,
)

logger = logging.getLogger(__name__)


def subscribe_webhooks() -> None:
    """Subscribe to the events that webhooks can choose. Called once at startup."""
    outbox.subscribe_to_many(
        [kind.name for kind in outbox.all_kinds() if kind.is_webhook],
        queue_for_webhooks,
        id="webhooks.subscribers.queue_for_webhooks",
    )
    outbox.events_forgotten.register(forget_events)


# One query returns the webhooks and whether a sender is running, because this runs for every event.
_ACTIVE: Final = CompiledQuery(
    lambda now, latest: (
        Webhook.objects.filter(is_active=True)
        .annotate(is_sent_to=Exists(held_leases(now, latest)))
        .values("id", "events", "types", "locales", "is_sent_to")
    )
)


def queue_for_webhooks(events: Sequence[Event]) -> None:
    """Queue a delivery of each event for every active webhook that wants it."""
    now = timezone.now()
    rows = _ACTIVE.rows(now, now + MAX_AHEAD)
    webhooks = [instance_from_row(Webhook, row) for row in rows]
    queue_all(
        [
            new_delivery(event, channel_of(row), webhook=row, at=now)
            for event in events
            for row in webhooks
            if event.forgotten_at is None and webhook_wants(row, event)
        ],
        none_sends=not any(row["is_sent_to"] for row in rows),
    )


def webhook_wants(webhook: Webhook, event: Event) -> bool:
    """Return True if the webhook wants the event. Its filters by type and language apply only to events of posts."""
    if event.name not in webhook.events:
        return False
    filters = ((webhook.types, "type"), (webhook.locales, "locale"))
    return not event.name.startswith("post.") or all(
        not chosen or event.payload.get(key) in chosen for chosen, key in filters
    )


def channel_of(webhook: Webhook) -> str:
    return f"webhook:{webhook.pk}"


def subscribe_workflows() -> None:
    """Subscribe to the events that workflows can use. Called once at startup."""
    outbox.subscribe_to_many(
        trigger_names(), start_workflows, id="webhooks.automation.starting.start_workflows"
    )


def start_workflows(events: Sequence[Event]) -> None:
    """Queue a delivery for every enabled workflow that wants an event. Idempotent."""
    names = {event.name for event in events if event.forgotten_at is None}
    # No query for events that no workflow uses.
    if not any(names.intersection(workflow.triggers) for workflow in all_workflows()):
        return
    workflows = enabled_workflows()
    deliveries: list[Delivery] = []
    for event in events:
        if event.forgotten_at is not None:
            continue
        triggered = [workflow for workflow in workflows if event.name in workflow.triggers]
        # Workflows can cause events that start workflows. The limit ends such a loop.
        if triggered and event.hop > MAX_HOPS:
            logger.error("%s starts no workflow: a chain of %s runs caused it", event, event.hop)
            continue
        deliveries += [
            new_delivery(event, workflow_channel(workflow.id), workflow_id=workflow.id)
            for workflow in triggered
            if workflow_wants(workflow, event)
        ]
    queue_all(deliveries)


def workflow_wants(workflow: WorkflowDefinition, event: Event) -> bool:
    """Return True if the filters match. Types and languages apply to posts, form slugs to forms."""
    filters, data = workflow.filters, event.payload
    is_of_post = event.name.startswith("post.")
    filter_checks: tuple[tuple[tuple[str, ...], str, bool], ...] = (
        (filters.types, "type", is_of_post),
        (filters.locales, "locale", is_of_post),
        (filters.form_slugs, "formSlug", event.name.startswith("form.")),
    )
    if any(
        applies and chosen and data.get(name) not in chosen
        for chosen, name, applies in filter_checks
    ):
        return False
    values: JsonObject = placeholder_values(event, workflow) if filters.conditions else {}
    return all(condition.holds(values) for condition in filters.conditions)
