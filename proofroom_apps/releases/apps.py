"""Registers the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ReleasesConfig(AppConfig):
    name = "proofroom_apps.releases"
    label = "proofroom_releases"
    verbose_name = "Content"  # the section of the admin with its list
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.posts.schedule import find_due_work
        from proofroom.accounts.delivery_credentials import preview_tokens
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.observability.metrics import read_metrics
        from proofroom.notifications.services import register_kind
        from proofroom_apps.previews.services import link_tables
        from proofroom_apps.releases.models import ReleasePreviewLink
        from proofroom_apps.releases.notifications import KINDS
        from proofroom_apps.releases.preview_links import open_for_delivery
        from proofroom_apps.releases.runs import find_due_releases, read_overdue_metrics

        find_due_work.register(find_due_releases)
        read_metrics.register(read_overdue_metrics)
        link_tables.register(ReleasePreviewLink)
        preview_tokens.register(open_for_delivery)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.REVIEW,
                gettext_lazy("Releases"),
                "admin:proofroom_releases_release_changelist",
                "flow",
                is_frequent=False,
                permissions=("releases.manage",),
            ),
            order=40,
        )
        for kind in KINDS:
            register_kind(kind)
