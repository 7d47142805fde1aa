"""Registers the app with Django."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import redaction
        from webhooks import (
            chat,
            delivery_channels,
            dispatch,
            tools,  # noqa: F401  # registers itself
        )
        from webhooks.automation.delivery_channel import WorkflowChannel
        from webhooks.automation.dispatch import subscribe_workflows
        from webhooks.redaction import stored_secrets

        redaction.register(stored_secrets)
        delivery_channels.register_channel("webhook", delivery_channels.WebhookChannel())
        delivery_channels.register_channel("workflow", WorkflowChannel())
        delivery_channels.register_channel(chat.CHANNEL, chat.ChatChannel())
        dispatch.subscribe_webhooks()
        subscribe_workflows()
        chat.subscribe_chat()
