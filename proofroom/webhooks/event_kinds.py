"""Event types of webhooks, workflows and their deliveries."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_PERMISSION: Final = "webhooks.manage"

KINDS = (
    EventKind("webhook.created", "Webhook created", _PERMISSION),
    EventKind("webhook.changed", "Webhook changed", _PERMISSION),
    EventKind("webhook.deleted", "Webhook deleted", _PERMISSION),
    EventKind("webhook.disabled", "Webhook turned off", _PERMISSION),
    EventKind("webhook.test", "Webhook tested", _PERMISSION),
    EventKind("webhook.simulated", "Webhook event simulated", _PERMISSION),
    EventKind("webhook.replayed", "Deliveries resent", _PERMISSION),
    EventKind("workflow.switched", "Workflow turned on or off", _PERMISSION),
    EventKind("workflow.test", "Workflow tested", _PERMISSION),
    EventKind("chat.test", "Chat tested", _PERMISSION),
)
