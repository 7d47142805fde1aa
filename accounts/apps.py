"""Registers the app with Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    label = "accounts"
    verbose_name = "People"
    default_auto_field = "django.db.models.BigAutoField"
