"""Replays: one delivery again, or all events of a webhook since a time, in batches.

The cursor of a replay moves in the transaction that queues the events, so an interrupted replay continues.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import Conflict, invalid
from proofroom.core.independent_steps import independent_steps
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.webhooks.delivery_queue import new_delivery, queue_all, wake_sender
from proofroom.webhooks.dispatch import channel_of, webhook_wants
from proofroom.webhooks.models import Delivery, DeliveryStatus, Webhook
from proofroom.webhooks.queries import find_delivery
from proofroom.webhooks.services.webhooks import find_webhook, require_webhook_manager

REPLAYED: Final = "webhook.replayed"
BATCH_SIZE: Final = 500
MAX_BATCHES: Final = 100
"""Batches in one task."""


@transaction.atomic
def replay_delivery(*, delivery_id: UUID | str, actor: Actor) -> Delivery:
    """Send a finished delivery again with the same id, or send a delivery that waits for a retry now.

    Raises `NotFound`, `Conflict` if it cannot be sent.
    """
    require_webhook_manager(actor)
    rows = Delivery.objects.select_for_update(of=("self",)).select_related("event", "webhook")
    row = find_delivery(delivery_id, rows)
    if row.next_attempt_at is not None and not row.waits_for_retry:
        raise Conflict(_("This delivery is not finished yet."), code="delivery_unfinished")
    if row.event.forgotten_at is not None:
        raise Conflict(
            _("The content of this event was deleted, so it cannot be sent again."),
            code="event_forgotten",
        )
    if row.next_attempt_at is None:
        # A finished delivery gets all its attempts again. One that waits for a retry continues its own.
        row.attempts = 0
    row.status, row.next_attempt_at = DeliveryStatus.PENDING, timezone.now()
    row.finished_at = row.claimed_until = None
    row.save()
    payload: dict[str, Json] = {"deliveryId": str(row.pk), "event": row.event_name}
    if row.webhook_id is not None:
        payload["webhookId"] = str(row.webhook_id)
    if row.workflow_id:
        payload["workflowId"] = row.workflow_id
    outbox.record(REPLAYED, actor=actor, payload=payload)
    wake_sender()
    return row


@transaction.atomic
def replay_since(*, webhook_id: UUID | str, since: datetime, actor: Actor) -> Webhook:
    """Send all events that the webhook chose since this time again, in the background.

    Includes events from the time when it was disabled. Raises `NotFound`, `RuleViolation` on `since`, and `Conflict`
    while another replay runs.
    """
    require_webhook_manager(actor)
    row = find_webhook(webhook_id, locked=True)
    if since.tzinfo is None or since > timezone.now():
        raise invalid("since", _("since must be a time in the past, with a time zone."))
    if row.replay_until is not None:
        raise Conflict(_("Events of this webhook are already being resent."), code="replay_running")
    # The last id is an upper bound: later events are delivered anyway.
    found = Event.objects.filter(
        created_at__gte=since, name__in=outbox.recorded_names(row.events)
    ).aggregate(first=Min("id"), last=Max("id"))
    if found["first"] is not None:
        # Minus 1, because `replay_after` is the last id that is done.
        row.replay_after, row.replay_until = found["first"] - 1, found["last"]
        row.save(update_fields=["replay_after", "replay_until"])
        send_after_commit(
            lambda: queue_task("webhooks.tasks.replay_deliveries"),
            f"the replay of webhook {row.pk}",
        )
    payload: dict[str, Json] = {
        "webhookId": str(row.pk),
        "since": since.astimezone(UTC).isoformat(),
    }
    outbox.record(REPLAYED, actor=actor, payload=payload)
    return row


@transaction.atomic
def cancel_replay(*, webhook_id: UUID | str, actor: Actor) -> Webhook:
    """Stop a replay. Queued deliveries are still sent. Raises `NotFound`."""
    require_webhook_manager(actor)
    row = find_webhook(webhook_id, locked=True)
    if row.replay_until is not None:
        row.replay_after = row.replay_until = None
        row.save(update_fields=["replay_after", "replay_until"])
        payload: dict[str, Json] = {"webhookId": str(row.pk), "cancelled": True}
        outbox.record(REPLAYED, actor=actor, payload=payload)
    return row


def queue_replays() -> int:
    """Queue the next batches of all replays. Return the number of deliveries."""
    total = 0
    failed: list[UUID] = []
    with independent_steps() as step:
        for _batch in range(MAX_BATCHES):
            with step("a replay"):
                try:
                    queued = queue_next_batch(leave_out=failed)
                except ReplayFailed as error:
                    failed.append(error.webhook_id)
                    raise
                if queued is None:
                    break
                total += queued
    return total


class ReplayFailed(Exception):
    """A batch of a webhook's replay could not be queued."""

    def __init__(self, webhook_id: UUID) -> None:
        super().__init__(f"the replay of webhook {webhook_id} failed")
        self.webhook_id = webhook_id


@transaction.atomic
def queue_next_batch(*, leave_out: Collection[UUID] = ()) -> int | None:
    """Queue one batch of the next replay, and return the number of deliveries. None if no unlocked replay is left.

    Raises `ReplayFailed`, so that the caller can continue with other webhooks.
    """
    webhook = (
        # The replay that is furthest behind comes first. Another process is busy with a locked one.
        Webhook.objects.select_for_update(skip_locked=True, no_key=True)
        .filter(replay_until__isnull=False)
        .exclude(pk__in=leave_out)
        .order_by("replay_after", "pk")
        .first()
    )
    if webhook is None:
        return None
    try:
        return _queue_batch(webhook)
    except DATABASE_UNREACHABLE:
        raise
    except Exception as error:
        # With the id, so that the caller can leave this webhook out.
        raise ReplayFailed(webhook.pk) from error


def _queue_batch(webhook: Webhook) -> int:
    found = list(
        Event.objects.filter(
            id__gt=webhook.replay_after or 0,
            id__lte=webhook.replay_until,
            name__in=outbox.recorded_names(webhook.events),
        ).order_by("id")[:BATCH_SIZE]
    )
    # Stored with the deliveries in one transaction, so a crash neither loses nor repeats a batch.
    is_over = len(found) < BATCH_SIZE
    webhook.replay_after = None if is_over else found[-1].pk
    webhook.replay_until = None if is_over else webhook.replay_until
    webhook.save(update_fields=["replay_after", "replay_until"])
    chosen = [
        event for event in found if event.forgotten_at is None and webhook_wants(webhook, event)
    ]
    # Finished deliveries restart with their old ids, by which receivers detect duplicates. Others are left alone.
    channel = channel_of(webhook)
    queued = Delivery.objects.filter(lane=channel, event__in=[event.pk for event in chosen])
    restarted = queued.filter(next_attempt_at__isnull=True).update(
        status=DeliveryStatus.PENDING,
        attempts=0,
        next_attempt_at=timezone.now(),
        claimed_until=None,
        finished_at=None,
    )
    known = set(queued.values_list("event_id", flat=True))
    fresh = [
        new_delivery(event, channel, webhook=webhook) for event in chosen if event.pk not in known
    ]
    queue_all(fresh)
    if restarted and not fresh:
        wake_sender()
    return restarted + len(fresh)
