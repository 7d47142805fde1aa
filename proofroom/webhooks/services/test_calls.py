"""Test calls: of one webhook or the chat, and simulated events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.event_kinds import CONTENT_CHANGED
from proofroom.core.json import Json, JsonObject, sorted_json
from proofroom.core.models import Event
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.webhooks import chat
from proofroom.webhooks.delivery_channels import (
    SIMULATED,
    build_request,
    event_body,
    request_headers,
)
from proofroom.webhooks.delivery_queue import new_delivery, queue_all
from proofroom.webhooks.dispatch import channel_of, webhook_wants
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.rules import webhook_events
from proofroom.webhooks.services.webhooks import find_webhook, require_webhook_manager

TEST_EVENT: Final = "webhook.test"
SAMPLE_ID: Final = "00000000-0000-0000-0000-000000000000"
PAYLOAD_MAX_BYTES: Final = 100_000
MAX_RECEIVERS: Final = 200


@transaction.atomic
def test_webhook(*, webhook_id: UUID | str, actor: Actor) -> Delivery:
    """Send a sample of the webhook's first event. Return the queued delivery. Raises `NotFound`."""
    require_webhook_manager(actor)
    webhook = find_webhook(webhook_id, locked=True)
    kind = webhook.events[0] if webhook.events else "post.published"
    payload: JsonObject = {
        **sample_payload(kind, webhook),
        "webhookId": str(webhook.pk),
        "sampleOf": kind,
    }
    event = outbox.record(TEST_EVENT, actor=actor, payload=payload)
    delivery = new_delivery(event, channel_of(webhook), webhook=webhook)
    queue_all([delivery])
    return delivery


@transaction.atomic
def test_chat(*, actor: Actor) -> Delivery:
    """Send a test notice to the chat. Raises `RuleViolation` (`no_chat`) if none is set up."""
    require_webhook_manager(actor)
    if not chat.chat_host():
        raise RuleViolation(_("No chat is set up: CHAT_WEBHOOK_URL is not set."), code="no_chat")
    event = outbox.record(chat.TEST_EVENT, actor=actor, payload={})
    delivery = new_delivery(event, chat.CHANNEL)
    queue_all([delivery])
    return delivery


class PostFilters(Protocol):
    """The types and languages of posts that a receiver wants."""

    @property
    def types(self) -> Sequence[str]: ...

    @property
    def locales(self) -> Sequence[str]: ...


def sample_payload(kind: str, chosen: PostFilters) -> JsonObject:
    """Return sample data of an event, about a post or submission that does not exist."""
    if kind == CONTENT_CHANGED:
        type_ = chosen.types[0] if chosen.types else "blog"
        locale = chosen.locales[0] if chosen.locales else settings.CMS_ENV.default_locale
        return {
            "cause": "move",
            "tags": [f"post:{SAMPLE_ID}", f"type:{type_}:{locale}", "redirects"],
            "paths": ["/test"],
            "gone": ["/former-test"],
            "pathsTotal": 1,
            "more": False,
        }
    if not kind.startswith("post."):
        answers: dict[str, Json] = {"email": "visitor@example.com", "message": "This is a test."}
        return {"formSlug": "contact", "submissionId": SAMPLE_ID, "payload": answers}
    return {
        "id": SAMPLE_ID,
        "type": chosen.types[0] if chosen.types else "blog",
        "locale": chosen.locales[0] if chosen.locales else settings.CMS_ENV.default_locale,
        "slug": "test",
        "title": "This is a test",
        "status": "published",
        "url": "/test",
        "changedPaths": ["post.title"] if kind == "post.updated" else [],
    }


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """A webhook that wants the event, and the names of the headers it would get."""

    webhook: Webhook
    header_names: tuple[str, ...]
    delivery: Delivery | None


@dataclass(frozen=True, slots=True)
class Simulation:
    body: JsonObject
    calls: tuple[SimulatedCall, ...]


def simulate_event(
    *, actor: Actor, event: str, payload: JsonObject | None = None, send: bool = False
) -> Simulation:
    """Return what an event would send. With `send`, send it to active webhooks marked for tests.

    Raises `RuleViolation` on `event` or `payload`.
    """
    actor.require_diagnosis("webhooks.manage")
    if event not in webhook_events():
        known = ", ".join(webhook_events())
        raise invalid(
            "event",
            _("%(event)r is not a webhook event. Available: %(known)s.")
            % {"event": event[:60], "known": known},
        )
    if payload is not None:
        reject_unstorable(payload, "payload")
        if len(sorted_json(payload)) > PAYLOAD_MAX_BYTES:
            raise invalid(
                "payload",
                _("payload can have at most %(largest)s bytes.")
                % {"largest": f"{PAYLOAD_MAX_BYTES:,}"},
            )
    data = sample_payload(event, Webhook()) if payload is None else payload
    wanted = Event(name=event, payload=data)
    rows = Webhook.objects.filter(is_active=True).order_by("name", "id")
    webhooks = [row for row in rows if webhook_wants(row, wanted)][:MAX_RECEIVERS]
    # The event has its own name, so that no other subscriber handles an event that did not happen.
    simulated: JsonObject = {"event": event, "data": data}
    with transaction.atomic():
        if send:
            made = outbox.record(SIMULATED, actor=actor, payload=simulated)
        else:
            made = Event(name=SIMULATED, uid=uuid4(), payload=simulated, created_at=timezone.now())
        calls = []
        for row in webhooks:
            delivery = new_delivery(made, channel_of(row), webhook=row)
            delivery.event_name = event
            names = request_headers(delivery, build_request(delivery), timezone.now())
            is_sent = send and row.is_test
            calls.append(SimulatedCall(row, tuple(names), delivery if is_sent else None))
        queue_all([call.delivery for call in calls if call.delivery is not None])
    return Simulation(event_body(made), tuple(calls))
