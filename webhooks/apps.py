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
            dispatch,
            tools,  # noqa: F401  # registers itself
        )
        from webhooks.automation.delivery_channel import WorkflowChannel
        from webhooks.automation.dispatch import subscribe_workflows
        from webhooks.delivery_channels import WebhookChannel, channels
        from webhooks.redaction import stored_secrets

        redaction.secret_sources.register(stored_secrets)
        channels.register(WebhookChannel(), name="webhook")
        channels.register(WorkflowChannel(), name="workflow")
        channels.register(chat.ChatChannel(), name=chat.CHANNEL)
        dispatch.subscribe_webhooks()
        subscribe_workflows()
        chat.subscribe_chat()
