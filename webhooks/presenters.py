"""Webhooks and their deliveries as the API answers them. No secret and no value of a header is ever part of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import receiver_of
from webhooks.rules import MASK
from webhooks.services.replay import replay_left
from webhooks.showing import Shown

Wire = dict[str, Any]


def webhook(row: Webhook, last: Delivery | None) -> Wire:
    """A webhook with its latest delivery."""
    return {
        "id": str(row.pk),
        "name": row.name,
        "url": row.url,
        "events": row.events,
        "types": row.types,
        "locales": row.locales,
        "headers": dict.fromkeys(row.headers, MASK),
        "hasSecret": bool(row.secret),
        "secretRotatesUntil": rotates_until(row),
        "active": row.is_active,
        "test": row.is_test,
        "failingSince": row.failing_since,
        "disabledAt": row.disabled_at,
        "disabledReason": row.disabled_reason or None,
        "lastDelivery": None if last is None else brief(last),
        "replaying": row.replay_until is not None,
        "version": row.version,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def rotates_until(row: Webhook) -> datetime | None:
    """Until when the secret before signs along."""
    until = row.previous_secret_until
    return until if row.previous_secret and until and until > timezone.now() else None


def webhook_in_full(row: Webhook, last: Delivery | None) -> Wire:
    """With how many events are still to be queued, where it is told of events again."""
    return {**webhook(row, last), "replayLeft": replay_left(row)}


def brief(row: Delivery) -> Wire:
    """A delivery as the last one of its receiver."""
    return {
        "id": str(row.pk),
        "event": row.event_name,
        "status": row.status,
        "statusCode": row.last_status_code,
        "createdAt": row.created_at,
    }


def delivery(row: Delivery) -> Wire:
    """One event for one receiver, with where it stands."""
    return {
        "id": str(row.pk),
        "receiver": receiver_of(row),
        "webhookId": None if row.webhook_id is None else str(row.webhook_id),
        "workflowId": row.workflow_id or None,
        "event": row.event_name,
        "eventId": str(row.event.uid),
        "postId": None if row.post_id is None else str(row.post_id),
        "status": row.status,
        "attempts": row.attempts,
        "nextAttemptAt": row.next_attempt_at,
        "statusCode": row.last_status_code,
        "error": row.last_error or None,
        "createdAt": row.created_at,
        "finishedAt": row.finished_at,
    }


def delivery_in_full(row: Delivery, shown: Shown, attempts: Sequence[Attempt]) -> Wire:
    """With what is sent, and every call that was made."""
    return {
        **delivery(row),
        "withheld": shown.withheld,
        "body": shown.body,
        "tries": [attempt(one, is_withheld=shown.withheld is not None) for one in attempts],
    }


def attempt(row: Attempt, *, is_withheld: bool) -> Wire:
    """One call. What a receiver answers may repeat what it was sent."""
    return {
        "number": row.number,
        "at": row.at,
        "ms": row.ms,
        "statusCode": row.status_code,
        "error": row.error or None,
        "requestHeaders": row.request_headers,
        "responseHeaders": {} if is_withheld else row.response_headers,
        "responseBody": "" if is_withheld else row.response_body,
    }
