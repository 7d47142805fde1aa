"""Receivers of every kind: what a lane sends for a delivery. All else (attempts, order, retries) they share.

The name of a lane is `<prefix>` or `<prefix>:<which>`; each prefix has one `Lane`, registered at start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from core.hooks import ExtensionPoint
from webhooks.models import Delivery
from webhooks.signing import Keys


class GivenUp(Exception):
    """There is nothing to send for a delivery, and never will be. `reason` is a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One call as its lane wants it.

    `headers` are the receiver's own; their values are never stored. `secrets` are further words to keep out of
    what is stored. With `keys` the body is signed. `is_named` sends the headers that name event and delivery,
    `told` are further ones of ours, which hold no secret.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    keys: Keys | None = None
    method: str = "POST"
    is_named: bool = True
    content_type: str = "application/json"
    told: Mapping[str, str] = field(default_factory=dict)


class Lane(Protocol):
    def request_of(self, delivery: Delivery) -> Outgoing:
        """What to send. `delivery.event` and `delivery.webhook` are loaded. Raises `GivenUp`."""


lane_types: ExtensionPoint[Lane] = ExtensionPoint()
"""By prefix: each makes the requests of every delivery whose lane is its prefix or begins with `prefix:`."""


def request_of(delivery: Delivery) -> Outgoing:
    """What to send for the delivery. Raises `GivenUp`."""
    lane = lane_types.get(delivery.lane.partition(":")[0])
    if lane is None:
        raise GivenUp("Nothing here knows this receiver any more.")
    return lane.request_of(delivery)
