"""The Django app of notifications."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "proofroom.notifications"
    label = "proofroom_notifications"
    verbose_name = "Notifications"
    default_auto_field = "django.db.models.BigAutoField"
