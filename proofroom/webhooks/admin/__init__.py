"""The admin of webhooks, deliveries and workflows."""

from proofroom.webhooks.admin import deliveries, webhooks, workflows

__all__ = ["deliveries", "webhooks", "workflows"]
