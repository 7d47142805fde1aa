"""Registers the app with Django."""

from django.apps import AppConfig


class ReviewersConfig(AppConfig):
    name = "proofroom_apps.reviewers"
    label = "proofroom_reviewers"
    verbose_name = "Reviewers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.notifications.services import register_kind
        from proofroom_apps.reviewers.notifications import KINDS

        for kind in KINDS:
            register_kind(kind)
