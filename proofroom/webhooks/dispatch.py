"""Dispatch of events: queues a delivery for each webhook and workflow that wants an event.

Deliveries are stored in the transaction that marks the event as handled.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Final

from django.db.models import Exists
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.actor import MAX_HOPS
from proofroom.core.caching.cache_tags import REDIRECTS, SITE
from proofroom.core.database.compiled_queries import CompiledQuery, instance_from_row
from proofroom.core.event_kinds import CONTENT_CHANGED
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
    trigger_kinds,
    workflow_channel,
)

logger = logging.getLogger(__name__)
_FOR_ALL: Final = ("menu:", REDIRECTS, SITE)
"""Beginnings of the tags that pass the filters of every webhook."""


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
    """Return True if the webhook wants the event. Its filters by type and language don't apply to forms."""
    name = outbox.public_name_of(event.name)
    if name not in webhook.events:
        return False
    if name == CONTENT_CHANGED:
        return concerns(event.payload, webhook.types, webhook.locales)
    filters = ((webhook.types, "type"), (webhook.locales, "locale"))
    return not event.name.startswith("post.") or all(
        not chosen or event.payload.get(key) in chosen for chosen, key in filters
    )


def concerns(payload: JsonObject, types: Collection[str], locales: Collection[str]) -> bool:
    """Return True if a tag of `content.changed` has one of the types and languages; if none are given, always.

    Menus, redirects and settings have neither, and are part of every site.
    """
    tags = [str(tag) for tag in given] if isinstance(given := payload.get("tags"), list) else []
    of_types = [tag.split(":", 2)[1:] for tag in tags if tag.startswith("type:")]
    if not of_types or any(tag.startswith(_FOR_ALL) for tag in tags):
        return True
    return any(
        (not types or type_ in types) and (not locales or locale in locales)
        for type_, locale in of_types
    )


def channel_of(webhook: Webhook) -> str:
    return f"webhook:{webhook.pk}"


def subscribe_workflows() -> None:
    """Subscribe to the events that workflows can use. Called once at startup."""
    outbox.subscribe_to_many(
        [kind.name for kind in trigger_kinds()],
        start_workflows,
        id="webhooks.automation.starting.start_workflows",
    )


def start_workflows(events: Sequence[Event]) -> None:
    """Queue a delivery for every enabled workflow that wants an event. Idempotent."""
    names = {outbox.public_name_of(event.name) for event in events if event.forgotten_at is None}
    # No query for events that no workflow uses.
    if not any(names.intersection(workflow.triggers) for workflow in all_workflows()):
        return
    workflows = enabled_workflows()
    deliveries: list[Delivery] = []
    for event in events:
        if event.forgotten_at is not None:
            continue
        name = outbox.public_name_of(event.name)
        triggered = [workflow for workflow in workflows if name in workflow.triggers]
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
    """Return True if the filters match. Types and languages apply to content, form slugs to forms."""
    filters, data = workflow.filters, event.payload
    if outbox.public_name_of(event.name) == CONTENT_CHANGED and not concerns(
        data, filters.types, filters.locales
    ):
        return False
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
