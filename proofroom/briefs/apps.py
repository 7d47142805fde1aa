"""The Django app of editorial briefs."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class BriefsConfig(AppConfig):
    name = "proofroom.briefs"
    label = "proofroom_briefs"
    verbose_name = "Agents"  # the admin section that lists the briefs
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.archive.registry import archive_kinds
        from proofroom.briefs.archive import BriefArchive
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )

        archive_kinds.register(BriefArchive(), name=BriefArchive.name, order=115)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Editorial briefs"),
                "admin:proofroom_briefs_brief_changelist",
                "comment",
                permissions=("posts.view",),
            ),
            order=21,
        )
