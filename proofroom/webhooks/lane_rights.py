"""What the database role of agents may do with webhooks and workflows."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable, writable

_SIMULATED: Final = (
    "EXISTS (SELECT FROM {tables}.proofroom_core_event e, {tables}.proofroom_webhooks_webhook w "
    "WHERE e.id = event_id AND e.name = 'webhook.simulated' AND w.id = webhook_id AND w.is_test)"
)
"""Deliveries of a simulated event to receivers marked for tests, which a tool of diagnostics makes."""

RIGHTS: Final = (
    *writable("proofroom_webhooks.Delivery", inserts=True, rows=_SIMULATED),
    *readable(
        "proofroom_webhooks.Webhook",
        "proofroom_webhooks.WorkflowSwitch",
        "proofroom_webhooks.Attempt",
        "proofroom_webhooks.SenderLease",
    ),
)
