"""Kinds of events of webhooks, workflows and their deliveries."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_SEE: Final = "webhooks.manage"

KINDS = (
    EventKind("webhook.created", "Webhook created", _SEE),
    EventKind("webhook.changed", "Webhook changed", _SEE),
    EventKind("webhook.deleted", "Webhook deleted", _SEE),
    EventKind("webhook.disabled", "Webhook turned off", _SEE),
    EventKind("webhook.test", "Webhook tested", _SEE),
    EventKind("webhook.simulated", "Webhook event simulated", _SEE),
    EventKind("webhook.replayed", "Deliveries resent", _SEE),
    EventKind("workflow.switched", "Workflow turned on or off", _SEE),
    EventKind("workflow.test", "Workflow tested", _SEE),
    EventKind("chat.test", "Chat tested", _SEE),
)
