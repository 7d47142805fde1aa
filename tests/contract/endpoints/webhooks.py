"""Webhooks and deliveries."""

from __future__ import annotations

from uuid import uuid4

from proofroom.core.models import Event
from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus, Webhook
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    event = make.event("post.published")
    webhook = make.webhook()  # after it: or it could get a delivery of it
    delivery = make.delivery(event, webhook, status=DeliveryStatus.FAILED)
    return {"webhook_id": str(webhook.pk), "delivery_id": str(delivery.pk)}


def grow(number: int) -> None:
    """Add webhooks with one delivery each."""
    rows = make.copies(Webhook.objects.earliest("created_at"), number)
    make.copies(
        Delivery.objects.earliest("created_at"),
        number,
        webhook_id=lambda place: rows[place].pk,
        lane=lambda place: f"webhook:{rows[place].pk}",
    )


def grow_deliveries(number: int) -> None:
    """Add deliveries, each with its own event and an attempt."""
    events = make.copies(Event.objects.latest("pk"), number, uid=lambda _: uuid4())
    rows = make.copies(
        Delivery.objects.earliest("created_at"), number, event_id=lambda place: events[place].pk
    )
    call = Attempt.objects.all()[0]
    make.copies(call, number, delivery_id=lambda place: rows[place].pk)


ENDPOINTS = [
    Endpoint("GET /api/webhooks", ADMIN, invalid=("?page=0", "page"), grow=grow),
    Endpoint(
        "POST /api/webhooks",
        ADMIN,
        201,
        body={"name": "Search", "url": "https://search.example/hook", "events": ["post.updated"]},
        invalid=(
            {"name": "Search", "url": "https://search.example/hook", "events": ["post.eaten"]},
            "events",
        ),
    ),
    Endpoint("GET /api/webhooks/<webhook_id>", ADMIN),
    Endpoint(
        "PATCH /api/webhooks/<webhook_id>",
        ADMIN,
        body={"name": "Other", "version": 1},
        invalid=({"url": "http://127.0.0.1/"}, "url"),
        stale={"name": "Other", "version": 99},
    ),
    Endpoint("DELETE /api/webhooks/<webhook_id>", ADMIN),
    Endpoint("POST /api/webhooks/<webhook_id>/test", ADMIN),
    Endpoint(
        "POST /api/webhooks/<webhook_id>/replay",
        ADMIN,
        body={"since": "2020-01-01T00:00:00Z"},
        invalid=({"since": "yesterday"}, "since"),
    ),
    Endpoint("POST /api/webhooks/<webhook_id>/replay/cancel", ADMIN),
    Endpoint(
        "GET /api/webhook-deliveries", ADMIN, invalid=("?status=no", "status"), grow=grow_deliveries
    ),
    Endpoint("GET /api/webhook-deliveries/<delivery_id>", ADMIN),
    Endpoint("POST /api/webhook-deliveries/<delivery_id>/replay", ADMIN),
]
