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
