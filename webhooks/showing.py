"""What people see of a delivery: the call as its lane makes it, unless it holds words that are not for them."""

from __future__ import annotations

from dataclasses import dataclass

from core.actor import Actor
from webhooks import lanes
from webhooks.models import Delivery
from webhooks.queries import permission_missing
from webhooks.redaction import Redactor
from webhooks.services.webhooks import host_of


@dataclass(frozen=True, slots=True)
class Shown:
    """`withheld` says why there is no body to show."""

    host: str
    body: str | None
    withheld: str | None


def shown_to(delivery: Delivery, actor: Actor) -> Shown:
    """The call that the delivery makes, for this reader. Header values and secrets are no part of it."""
    try:
        call = lanes.request_of(delivery)
    except lanes.GivenUp as reason:
        return Shown("", None, reason.reason)
    host = host_of(call.url)
    missing = permission_missing(delivery, actor)
    if missing is not None:
        return Shown(host, None, f"What this event says is for accounts with {missing}.")
    return Shown(host, Redactor(call).text(call.body.decode("utf-8", "replace")), None)
