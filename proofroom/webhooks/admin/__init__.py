"""The admin of webhooks: who is told, and what was sent."""

from proofroom.webhooks.admin import deliveries, webhooks, workflows

__all__ = ["deliveries", "webhooks", "workflows"]
