"""Shared helpers for deliveries: webhooks to the receiver, events, and their results."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.webhooks import delivery
from proofroom.webhooks.dispatch import queue_for_webhooks
from proofroom.webhooks.models import Attempt, Delivery, Webhook
from tests import make
from tests.receiver import Receiver

SECRET = "own-secret-of-this-webhook"
EVENTS = ["post.created", "post.updated", "post.published", "post.deleted", "form.submitted"]


def webhook(receiver: Receiver, path: str = "/hook", **fields: Any) -> Webhook:
    values = {"name": path, "url": receiver.url(path), "events": EVENTS, "secret": SECRET}
    return Webhook.objects.create(**values | fields)


def happened(
    name: str = "post.updated", *, post: UUID | None = None, told: bool = True, **payload: Any
) -> Event:
    """Record an event of a post, delivered to webhooks unless `told` is False."""
    post = post or uuid4()
    payload = {"id": str(post), "type": "blog", "locale": "en", "title": "Tea"} | payload
    event = outbox.record(name, actor=make.actor("admin"), payload=payload, post_id=post)
    if told:
        queue_for_webhooks([event])
    return event


def submitted(**payload: Any) -> Event:
    """Record an event without a post."""
    told = {"formSlug": "contact", "submissionId": str(uuid4()), "payload": payload}
    event = outbox.record("form.submitted", actor=make.actor("admin"), payload=told)
    queue_for_webhooks([event])
    return event


def send() -> int:
    made, is_more = delivery.send_due()
    assert not is_more
    return made


def make_due() -> None:
    """Make all retries due."""
    Delivery.objects.filter(next_attempt_at__isnull=False).update(
        next_attempt_at=timezone.now() - timedelta(seconds=1)
    )


def delivery_of(event: Event) -> Delivery:
    return Delivery.objects.get(event=event)


def state_of(event: Event) -> tuple[str, int, int | None, str]:
    row = delivery_of(event)
    return row.status, row.attempts, row.last_status_code, row.last_error


def attempts_of(event: Event) -> list[Attempt]:
    return list(Attempt.objects.filter(delivery__event=event).order_by("number"))
