"""MCP tool for diagnosis: simulates a webhook event."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, tool
from proofroom.webhooks.services.test_calls import simulate_event
from proofroom.webhooks.services.webhooks import host_of
from proofroom.webhooks.signatures import keys_of


class SimulateWebhookEvent(Arguments):
    event: str = Field(max_length=60, description="Such as post.published.")
    payload: dict[str, Any] | None = Field(None, description="The data; a sample without it.")
    send: bool = False


@tool(
    title="Simulate an event of webhooks",
    kind="open",
    permission="webhooks.manage",
    group="diagnostics",
)
def simulate_webhook_event(actor: Actor, arguments: SimulateWebhookEvent) -> JsonObject:
    """Show what an event would send to which webhooks, and its signature, without secrets. With send, it goes only
    to active webhooks marked for tests.
    """
    simulation = simulate_event(
        actor=actor, event=arguments.event, payload=arguments.payload, send=arguments.send
    )
    receivers: list[Json] = []
    for call in simulation.calls:
        keys = keys_of(call.webhook)
        own = "its own secret" if call.webhook.secret else "AGENT_SECRET"
        receiver: JsonObject = {
            "webhookId": str(call.webhook.pk),
            "name": call.webhook.name,
            "host": host_of(call.webhook.url),
            "test": call.webhook.is_test,
            "signedWith": own if keys.current else None,
            "alsoSignedWithSecretBefore": bool(keys.previous),
            "headers": list(call.header_names),  # only names: values may be credentials
            "deliveryId": None if call.delivery is None else str(call.delivery.pk),
        }
        receivers.append(
            {name: value for name, value in receiver.items() if value not in (None, False)}
        )
    return {"body": simulation.body, "receivers": receivers}
