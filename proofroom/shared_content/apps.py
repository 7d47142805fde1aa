"""Registers the app with Django."""

from django.apps import AppConfig


class SharedContentConfig(AppConfig):
    name = "proofroom.shared_content"
    label = "proofroom_shared_content"
    verbose_name = "Content"
    default_auto_field = "django.db.models.BigAutoField"
