"""Registers the app with Django."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import redaction
        from webhooks import subscribers, tools  # noqa: F401  # the last registers itself
        from webhooks.automation import checks, starting  # noqa: F401  # one registers itself
        from webhooks.automation.lane import WorkflowLane
        from webhooks.chat import notices
        from webhooks.lanes import lane_types
        from webhooks.redaction import kept_secrets
        from webhooks.webhook_lane import WebhookLane

        redaction.secret_sources.register(kept_secrets)
        lane_types.register(WebhookLane(), name="webhook")
        lane_types.register(WorkflowLane(), name="workflow")
        lane_types.register(notices.ChatLane(), name=notices.LANE)
        subscribers.connect()
        starting.connect()
        notices.connect()
