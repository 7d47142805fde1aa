"""Registers the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class CalendarConfig(AppConfig):
    name = "proofroom_apps.calendar"
    label = "proofroom_calendar"
    verbose_name = "Content"

    def ready(self) -> None:
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.admin.undo import undo_kinds
        from proofroom_apps.calendar.move_page import UNDO_KIND

        undo_kinds.register(UNDO_KIND, name=UNDO_KIND.name)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.REVIEW,
                gettext_lazy("Calendar"),
                "admin:calendar",
                "calendar",
                permissions=("posts.view",),
            ),
            order=50,
        )
