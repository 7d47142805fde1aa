"""Registers the app with Django."""

from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "proofroom.imports"
    label = "proofroom_imports"
    verbose_name = "Imports"
    default_auto_field = "django.db.models.BigAutoField"
