"""What is sent: made of the event each time, the same bytes at every attempt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import orjson

from core.json import Json
from core.models import Event
from webhooks.lanes import GivenUp, Outgoing
from webhooks.models import Delivery
from webhooks.signing import signed_headers

SIMULATED: Final = "webhook.simulated"
"""An event that did not happen: its payload is the `event` and the `data` that receivers are shown."""
_OURS: Final = frozenset(
    {"content-type", "content-length", "host", "transfer-encoding", "connection"}
)
_OUR_PREFIXES: Final = ("x-webhook-", "x-hub-signature", "x-agent-run")


def envelope(event: Event) -> dict[str, Json]:
    """The event as receivers know it; one that was only simulated says so."""
    told: dict[str, Json] = {
        "id": str(event.uid),
        "event": event.name,
        "createdAt": event.created_at.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
        "data": event.payload,
    }
    return {**told, **event.payload, "simulated": True} if event.name == SIMULATED else told


def encoded(value: Mapping[str, Json]) -> bytes:
    """JSON with its keys in order: PostgreSQL does not keep the order they were written in."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def body_of(delivery: Delivery) -> bytes:
    """The body of a webhook's delivery. Raises `GivenUp` where the words of the event were deleted."""
    if delivery.event.forgotten_at is not None:
        raise GivenUp("The words of this event were deleted.")
    return encoded(envelope(delivery.event))


def headers_of(delivery: Delivery, call: Outgoing, at: datetime) -> dict[str, str]:
    """Everything that goes along with one attempt. The receiver's own headers never replace these."""
    own = {name: value for name, value in call.headers.items() if not _is_ours(name)}
    named = {
        "X-Webhook-Event": delivery.event_name,
        "X-Webhook-Delivery": str(delivery.pk),
        "X-Webhook-Timestamp": str(int(at.timestamp())),
        "X-Webhook-Version": str(delivery.event.version),
    }
    return {
        **own,
        **({"Content-Type": call.content_type} if call.body else {}),
        **(named if call.is_named else {}),
        **call.told,
        **(signed_headers(call.keys, call.body) if call.keys else {}),
    }


def _is_ours(name: str) -> bool:
    low = name.lower()
    return low in _OURS or low.startswith(_OUR_PREFIXES)
