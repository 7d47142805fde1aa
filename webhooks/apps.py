"""Registers the app with Django."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import redaction
        from webhooks import lanes, subscribers, tools  # noqa: F401  # the last registers itself
        from webhooks.automation import checks, starting  # noqa: F401  # one registers itself
        from webhooks.automation.lane import WorkflowLane
        from webhooks.chat import notices
        from webhooks.redaction import kept_secrets
        from webhooks.webhook_lane import WebhookLane

        redaction.register(kept_secrets)
        lanes.register("webhook", WebhookLane())
        lanes.register("workflow", WorkflowLane())
        lanes.register(notices.LANE, notices.ChatLane())
        subscribers.connect()
        starting.connect()
        notices.connect()
