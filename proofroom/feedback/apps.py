"""Registers the app with Django."""

from django.apps import AppConfig


class FeedbackConfig(AppConfig):
    name = "proofroom.feedback"
    label = "proofroom_feedback"
    verbose_name = "Content"  # the section of the admin that its list stands in
    default_auto_field = "django.db.models.BigAutoField"
