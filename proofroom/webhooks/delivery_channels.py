"""Channels of deliveries: each makes the requests for one kind of receiver. The queue is common to all.

The channel of a delivery (`Delivery.lane`) is `<prefix>` or `<prefix>:<which>`. Each prefix has one
`DeliveryChannel`, registered at startup. The request is made from the event at every attempt, always with the same
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from proofroom.core import outbox
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json, format_time, sorted_json
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery
from proofroom.webhooks.signatures import Keys, keys_of, signature_headers

SIMULATED: Final = "webhook.simulated"
"""An event that did not happen. Its payload holds the `event` and `data` shown to receivers."""
OWN_HEADERS: Final = frozenset(
    {"content-type", "content-length", "host", "transfer-encoding", "connection"}
)
OWN_HEADER_PREFIXES: Final = ("x-webhook-", "x-hub-signature", "x-agent-run")


class NothingToSend(Exception):
    """The delivery has nothing to send, now or later. `reason`: a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request made by a channel.

    `headers`: the receiver's own headers; their values are never stored. `secrets`: further strings to redact in
    stored data. `keys`: keys that sign the body. `is_named`: send the headers with event and delivery.
    `extra_headers`: further headers of ours, without secrets.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    keys: Keys | None = None
    method: str = "POST"
    is_named: bool = True
    content_type: str = "application/json"
    extra_headers: Mapping[str, str] = field(default_factory=dict)


class DeliveryChannel(Protocol):
    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        """Return the request. `delivery.event` and `delivery.webhook` are loaded. Raises `NothingToSend`."""


channels: ExtensionPoint[DeliveryChannel] = ExtensionPoint()
"""Registered channels, by prefix of `Delivery.lane`."""


def build_request(delivery: Delivery) -> OutgoingRequest:
    """Return the request of a delivery. Raises `NothingToSend`."""
    channel = channels.get(delivery.receiver)
    if channel is None:
        raise NothingToSend("Nothing here knows this receiver any more.")
    return channel.build_request(delivery)


class WebhookChannel:
    """The channel of webhooks: calls the webhook's URL with its headers, signed with its secret."""

    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        webhook = delivery.webhook
        if webhook is None:
            raise NothingToSend("The webhook was deleted.")
        if delivery.event.forgotten_at is not None:
            raise NothingToSend("The words of this event were deleted.")
        return OutgoingRequest(
            url=webhook.url,
            headers=webhook.headers,
            # Sorted, so that every attempt has the same bytes.
            body=sorted_json(event_body(delivery.event)),
            secrets=(webhook.secret, webhook.previous_secret),
            keys=keys_of(webhook),
        )


def event_body(event: Event) -> dict[str, Json]:
    """Return the body for an event. A simulated event is marked."""
    body: dict[str, Json] = {
        "id": str(event.uid),
        "event": outbox.public_name_of(event.name),
        "createdAt": format_time(event.created_at),
        "data": outbox.public_payload_of(event),
    }
    return {**body, **event.payload, "simulated": True} if event.name == SIMULATED else body


def request_headers(delivery: Delivery, request: OutgoingRequest, at: datetime) -> dict[str, str]:
    """Return the headers of one attempt. The receiver's own headers cannot replace ours."""
    receiver_headers = {
        name: value
        for name, value in request.headers.items()
        if name.lower() not in OWN_HEADERS and not name.lower().startswith(OWN_HEADER_PREFIXES)
    }
    event_headers = {
        "X-Webhook-Event": delivery.event_name,
        "X-Webhook-Delivery": str(delivery.pk),
        "X-Webhook-Timestamp": str(int(at.timestamp())),
        "X-Webhook-Version": str(delivery.event.version),
    }
    return {
        **receiver_headers,
        **({"Content-Type": request.content_type} if request.body else {}),
        **(event_headers if request.is_named else {}),
        **request.extra_headers,
        **(signature_headers(request.keys, request.body) if request.keys else {}),
    }
