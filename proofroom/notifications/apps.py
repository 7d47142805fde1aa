"""Registers the app with Django, and subscribes to what people are notified of."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "proofroom.notifications"
    label = "proofroom_notifications"
    verbose_name = "Notifications"
    default_auto_field = "django.db.models.BigAutoField"
