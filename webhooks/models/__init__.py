"""The tables of webhooks and of what is sent."""

from webhooks.models.delivery import (
    UNFINISHED,
    Attempt,
    Delivery,
    DeliveryStatus,
    SenderLease,
    WorkflowSwitch,
)
from webhooks.models.webhook import Webhook

__all__ = [
    "UNFINISHED",
    "Attempt",
    "Delivery",
    "DeliveryStatus",
    "SenderLease",
    "Webhook",
    "WorkflowSwitch",
]
