"""Registers the app with Django."""

from django.apps import AppConfig


class CommentsConfig(AppConfig):
    name = "proofroom_apps.comments"
    label = "proofroom_comments"
    verbose_name = "Comments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.posts.bulk_edit import bulk_edit_parts
        from proofroom.notifications.services import register_kind
        from proofroom_apps.comments.bulk_assignment import ASSIGNMENT, BulkAssignment
        from proofroom_apps.comments.notifications import KINDS
        from proofroom_apps.comments.passages import subscribe_to_edits

        subscribe_to_edits()
        bulk_edit_parts.register(BulkAssignment(), name=ASSIGNMENT)
        for kind in KINDS:
            register_kind(kind)
