"""The models of webhooks and deliveries."""

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
