"""Trying out webhooks, for AI clients that look for a fault."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from core.actor import Actor
from core.json import JsonObject
from core.tools import Arguments, tool
from webhooks.services.simulating import Told, simulate_event
from webhooks.services.webhooks import host_of
from webhooks.signing import keys_of


class SimulateWebhookEvent(Arguments):
    event: str = Field(max_length=60, description="Such as post.published.")
    payload: dict[str, Any] | None = Field(None, description="The data; a sample without it.")
    send: bool = False


@tool(
    title="Simulate an event of webhooks",
    kind="open",
    permission="webhooks.manage",
    arguments=SimulateWebhookEvent,
    group="diagnostics",
)
def simulate_webhook_event(actor: Actor, arguments: SimulateWebhookEvent) -> JsonObject:
    """What an event would send to webhooks, to whom, and how signed, without secrets. With send it goes to active
    ones marked for tests, and to no other."""
    simulation = simulate_event(
        actor=actor, event=arguments.event, payload=arguments.payload, send=arguments.send
    )
    return {"body": simulation.body, "receivers": [_receiver(told) for told in simulation.told]}


def _receiver(told: Told) -> JsonObject:
    """Names of headers only: their values may be credentials."""
    keys = keys_of(told.webhook)
    own = "its own secret" if told.webhook.secret else "AGENT_SECRET"
    receiver: JsonObject = {
        "webhookId": str(told.webhook.pk),
        "name": told.webhook.name,
        "host": host_of(told.webhook.url),
        "test": told.webhook.is_test,
        "signedWith": own if keys.current else None,
        "alsoSignedWithSecretBefore": bool(keys.previous),
        "headers": list(told.header_names),
        "deliveryId": None if told.delivery is None else str(told.delivery.pk),
    }
    return {name: value for name, value in receiver.items() if value not in (None, False)}
