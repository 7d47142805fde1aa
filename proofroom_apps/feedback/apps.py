"""Registers the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class FeedbackConfig(AppConfig):
    name = "proofroom_apps.feedback"
    label = "proofroom_feedback"
    verbose_name = "Content"  # the section of the admin with its list
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.notifications.services import register_kind
        from proofroom_apps.feedback.notifications import KINDS

        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.REVIEW,
                gettext_lazy("Comments"),
                "admin:comments",
                "comment",
                permissions=("comments.view", "feedback.view"),
                covers=("admin:proofroom_feedback_feedback_changelist",),
            ),
            order=30,
        )
        for kind in KINDS:
            register_kind(kind)
