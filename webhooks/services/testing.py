"""A call that tries out a webhook: to this one only, active or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction

from core import events
from core.actor import Actor
from core.json import Json, JsonObject
from webhooks.delivering import lane_of, new_delivery, queue_all
from webhooks.models import Delivery
from webhooks.services.webhooks import allow, find_webhook

TEST: Final = "webhook.test"
_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


@transaction.atomic
def test_webhook(*, webhook_id: UUID | str, actor: Actor) -> Delivery:
    """Send a sample of the first of its events. Answers the delivery, which is under way. Raises `NotFound`."""
    allow(actor)
    webhook = find_webhook(webhook_id, locked=True)
    kind = webhook.events[0] if webhook.events else "post.published"
    payload: JsonObject = {
        **sample(kind, webhook),
        "webhookId": str(webhook.pk),
        "sampleOf": kind,
    }
    event = events.record(TEST, actor=actor, payload=payload)
    delivery = new_delivery(event, lane_of(webhook), webhook=webhook)
    queue_all([delivery])
    return delivery


class Chosen(Protocol):
    """Which posts a receiver asked for."""

    @property
    def types(self) -> Sequence[str]: ...

    @property
    def locales(self) -> Sequence[str]: ...


def sample(kind: str, chosen: Chosen) -> JsonObject:
    """What the data of such an event looks like, of a post or a submission that there is not."""
    if not kind.startswith("post."):
        answers: dict[str, Json] = {"email": "visitor@example.com", "message": "This is a test."}
        return {"formSlug": "contact", "submissionId": _NOBODY, "payload": answers}
    return {
        "id": _NOBODY,
        "type": chosen.types[0] if chosen.types else "blog",
        "locale": chosen.locales[0] if chosen.locales else settings.CMS_ENV.default_locale,
        "slug": "test",
        "title": "This is a test",
        "status": "published",
        "url": "/test",
        "changedPaths": ["post.title"] if kind == "post.updated" else [],
    }
