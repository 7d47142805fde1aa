"""The admin of webhooks: who is told, and what was sent."""

from webhooks.admin import deliveries, webhooks

__all__ = ["deliveries", "webhooks"]
