"""The tables of webhooks and of what is sent."""

from proofroom.webhooks.models.delivery import (
    UNFINISHED,
    Attempt,
    Delivery,
    DeliveryStatus,
    SenderLease,
    WorkflowSwitch,
)
from proofroom.webhooks.models.webhook import Webhook

__all__ = [
    "UNFINISHED",
    "Attempt",
    "Delivery",
    "DeliveryStatus",
    "SenderLease",
    "Webhook",
    "WorkflowSwitch",
]
