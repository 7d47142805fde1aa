"""Registers the app with Django, whose admin finds `admin.py`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ImportsConfig(AppConfig):
    name = "proofroom_apps.imports"
    label = "proofroom_imports"
    verbose_name = "Imports"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )

        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Imports"),
                "admin:proofroom_imports_importrun_changelist",
                "import",
                is_frequent=False,
                permissions=("posts.edit",),
            ),
            order=65,
        )
        from proofroom.notifications.services import register_kind
        from proofroom_apps.imports.export_schedules import finish_scheduled
        from proofroom_apps.imports.notifications import KINDS
        from proofroom_apps.imports.runs import run_ended

        run_ended.register(finish_scheduled)
        for kind in KINDS:
            register_kind(kind)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Exports"),
                "admin:proofroom_imports_exportrun_changelist",
                "up",
                is_frequent=False,
                permissions=("settings.manage",),
            ),
            order=66,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Export schedules"),
                "admin:proofroom_imports_exportschedule_changelist",
                "calendar",
                is_frequent=False,
                permissions=("settings.manage",),
            ),
            order=67,
        )
