"""The Django app of connected AI clients."""

from django.apps import AppConfig


class OAuthConfig(AppConfig):
    name = "proofroom.oauth"
    label = "proofroom_oauth"
    verbose_name = "Connected AI clients"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core import outbox
        from proofroom.oauth.connections import end_after_account_change

        changes = ("user.changed", "user.password-reset")
        outbox.subscribe_in_transaction(changes, end_after_account_change)
