"""Registers the app with Django."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from webhooks import lanes, subscribers
        from webhooks.webhook_lane import WebhookLane

        lanes.register("webhook", WebhookLane())
        subscribers.connect()
