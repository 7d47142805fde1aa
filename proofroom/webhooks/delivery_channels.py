"""Channels of deliveries: which request a kind of receiver gets. Attempts, order and retries they share.

The channel of a delivery (`Delivery.lane`) is `<prefix>` or `<prefix>:<which>`; each prefix has one `Channel`,
registered at start. What is sent is made of the event each time: the same bytes at every attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json, format_time, sorted_json
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery
from proofroom.webhooks.signatures import Keys, keys_of, signed_headers

SIMULATED: Final = "webhook.simulated"
"""An event that did not happen: its payload is the `event` and the `data` that receivers are shown."""
OWN_HEADERS: Final = frozenset(
    {"content-type", "content-length", "host", "transfer-encoding", "connection"}
)
OWN_HEADER_PREFIXES: Final = ("x-webhook-", "x-hub-signature", "x-agent-run")


class NothingToSend(Exception):
    """A delivery has nothing to send, and never will have. `reason` is a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request as its channel makes it.

    `headers` are the receiver's own; their values are never stored. `secrets` are further words to keep out of
    what is stored. With `keys` the body is signed. `is_named` sends the headers that name event and delivery,
    `extra_headers` are further ones of ours, which hold no secret.
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
        """Make the request. `delivery.event` and `delivery.webhook` are loaded. Raises `NothingToSend`."""


channels: ExtensionPoint[DeliveryChannel] = ExtensionPoint()
"""By prefix: each makes the requests of every delivery whose lane is its prefix or begins with `prefix:`."""


def build_request(delivery: Delivery) -> OutgoingRequest:
    """Make the request of a delivery. Raises `NothingToSend`."""
    channel = channels.get(delivery.receiver)
    if channel is None:
        raise NothingToSend("Nothing here knows this receiver any more.")
    return channel.build_request(delivery)


class WebhookChannel:
    """Calls the address of a webhook, with its headers, signed with its secret."""

    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        webhook = delivery.webhook
        if webhook is None:
            raise NothingToSend("The webhook was deleted.")
        if delivery.event.forgotten_at is not None:
            raise NothingToSend("The words of this event were deleted.")
        return OutgoingRequest(
            url=webhook.url,
            headers=webhook.headers,
            body=sorted_json(event_body(delivery.event)),
            secrets=(webhook.secret, webhook.previous_secret),
            keys=keys_of(webhook),
        )


def event_body(event: Event) -> dict[str, Json]:
    """Return the event as receivers know it; one that was only simulated says so."""
    body: dict[str, Json] = {
        "id": str(event.uid),
        "event": event.name,
        "createdAt": format_time(event.created_at),
        "data": event.payload,
    }
    return {**body, **event.payload, "simulated": True} if event.name == SIMULATED else body


def request_headers(delivery: Delivery, request: OutgoingRequest, at: datetime) -> dict[str, str]:
    """Return the headers of one attempt. The receiver's own headers never replace ours."""
    own = {
        name: value
        for name, value in request.headers.items()
        if name.lower() not in OWN_HEADERS and not name.lower().startswith(OWN_HEADER_PREFIXES)
    }
    named = {
        "X-Webhook-Event": delivery.event_name,
        "X-Webhook-Delivery": str(delivery.pk),
        "X-Webhook-Timestamp": str(int(at.timestamp())),
        "X-Webhook-Version": str(delivery.event.version),
    }
    return {
        **own,
        **({"Content-Type": request.content_type} if request.body else {}),
        **(named if request.is_named else {}),
        **request.extra_headers,
        **(signed_headers(request.keys, request.body) if request.keys else {}),
    }
