"""Registers the app with Django."""

from django.apps import AppConfig


class CommentsConfig(AppConfig):
    name = "proofroom_apps.comments"
    label = "proofroom_comments"
    verbose_name = "Comments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.notifications.services import register_kind
        from proofroom_apps.comments.notifications import KINDS
        from proofroom_apps.comments.passages import subscribe_to_edits

        subscribe_to_edits()
        for kind in KINDS:
            register_kind(kind)
