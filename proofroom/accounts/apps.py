"""Registers the app with Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "proofroom.accounts"
    label = "proofroom_accounts"
    verbose_name = "People"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.accounts.queries import token_names
        from proofroom.core.activity.presenters import name_lookups

        name_lookups.register(token_names, name="token")
