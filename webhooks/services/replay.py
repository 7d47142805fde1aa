"""Sending again: one delivery, or all that a webhook was, or would have been, told of since a time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone
from django.utils.translation import gettext as _

from core import events
from core.actor import Actor
from core.errors import Conflict, NotFound, invalid
from core.json import Json
from core.models import Event
from core.waking import after_commit
from webhooks.delivering import wake_sender
from webhooks.models import Delivery, DeliveryStatus, Webhook
from webhooks.queries import is_left_over
from webhooks.services.webhooks import allow, find_webhook

REPLAYED = "webhook.replayed"


@transaction.atomic
def replay_delivery(*, delivery_id: UUID | str, actor: Actor) -> Delivery:
    """Send a finished delivery again, under the same id, or now what waits for its next try.

    Raises `NotFound`, and `Conflict` where it may not be.
    """
    allow(actor)
    row = _locked(delivery_id)
    if row.next_attempt_at is not None and not waits_for_a_try(row):
        raise Conflict(_("This delivery is not finished yet."), code="delivery_unfinished")
    if row.event.forgotten_at is not None:
        raise Conflict(
            _("The words of this event were deleted; it cannot be sent again."),
            code="event_forgotten",
        )
    if row.next_attempt_at is None:
        row.attempts = 0
    row.status, row.next_attempt_at = DeliveryStatus.PENDING, timezone.now()
    row.finished_at = row.claimed_until = None
    row.save()
    payload: dict[str, Json] = {"deliveryId": str(row.pk), "event": row.event_name}
    if row.webhook_id is not None:
        payload["webhookId"] = str(row.webhook_id)
    if row.workflow_id:
        payload["workflowId"] = row.workflow_id
    events.record(REPLAYED, actor=actor, payload=payload)
    wake_sender()
    return row


def waits_for_a_try(row: Delivery) -> bool:
    """Whether a call failed and the next one is some time ahead."""
    return (
        row.status == DeliveryStatus.PENDING
        and row.attempts > 0
        and row.next_attempt_at is not None
        and row.next_attempt_at > timezone.now()
    )


@transaction.atomic
def replay_since(*, webhook_id: UUID | str, since: datetime, actor: Actor) -> Webhook:
    """Have the webhook told again of everything that it chose and that happened since, in the background.

    That holds for what happened while it was off, too. Raises `NotFound`, `RuleViolation` on `since`, and
    `Conflict` while an earlier one goes on.
    """
    allow(actor)
    row = find_webhook(webhook_id, locked=True)
    if since.tzinfo is None or since > timezone.now():
        raise invalid("since", _("since must be a time in the past, with its zone."))
    if row.replay_until is not None:
        raise Conflict(_("This webhook is being replayed already."), code="replay_running")
    found = Event.objects.filter(created_at__gte=since, name__in=row.events).aggregate(
        first=Min("id"), last=Max("id")
    )
    if found["first"] is not None:
        row.replay_after, row.replay_until = found["first"] - 1, found["last"]
        row.save(update_fields=["replay_after", "replay_until"])
        after_commit(_go_on, f"the replay of webhook {row.pk}")
    payload: dict[str, Json] = {"webhookId": str(row.pk), "since": since.isoformat()}
    events.record(REPLAYED, actor=actor, payload=payload)
    return row


@transaction.atomic
def cancel_replay(*, webhook_id: UUID | str, actor: Actor) -> Webhook:
    """Queue no more of it; what is queued already is sent. Raises `NotFound`."""
    allow(actor)
    row = find_webhook(webhook_id, locked=True)
    if row.replay_until is not None:
        row.replay_after = row.replay_until = None
        row.save(update_fields=["replay_after", "replay_until"])
        payload: dict[str, Json] = {"webhookId": str(row.pk), "cancelled": True}
        events.record(REPLAYED, actor=actor, payload=payload)
    return row


def replay_left(webhook: Webhook) -> int:
    """How many events a replay still has to queue."""
    if webhook.replay_until is None:
        return 0
    return Event.objects.filter(
        id__gt=webhook.replay_after or 0, id__lte=webhook.replay_until, name__in=webhook.events
    ).count()


def _locked(delivery_id: UUID | str) -> Delivery:
    rows = Delivery.objects.select_for_update(of=("self",)).select_related("event", "webhook")
    try:
        row = rows.filter(pk=UUID(str(delivery_id))).first()
    except ValueError:
        row = None
    if row is None or is_left_over(row):
        raise NotFound(
            _("No delivery has the id %(delivery_id)s.") % {"delivery_id": str(delivery_id)[:80]}
        )
    return row


def _go_on() -> None:
    from webhooks.tasks import replay_deliveries

    replay_deliveries.delay()
