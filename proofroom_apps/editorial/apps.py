"""Registers the app with Django, whose admin finds `admin.py`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class EditorialConfig(AppConfig):
    name = "proofroom_apps.editorial"
    label = "proofroom_editorial"
    verbose_name = "Editorial"

    def ready(self) -> None:
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom.core.admin.undo import undo_kinds
        from proofroom.notifications.services import register_kind
        from proofroom.shared_content.edit_page import edit_page_facts
        from proofroom_apps.editorial import notifications
        from proofroom_apps.editorial.inbox.counts import waiting_everywhere
        from proofroom_apps.editorial.posts.job_admin import UNDO_KIND
        from proofroom_apps.editorial.posts.undo import UNDO_KINDS
        from proofroom_apps.editorial.shared_content import notifications as shared_notifications
        from proofroom_apps.editorial.shared_content.shown_pages import shown_pages

        for undo_kind in (*UNDO_KINDS, UNDO_KIND):
            undo_kinds.register(undo_kind, name=undo_kind.name)
        edit_page_facts.register(shown_pages, name="pages")
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.WRITE,
                gettext_lazy("Posts"),
                "admin:content_post_changelist",
                "file",
                permissions=("posts.view",),
            ),
            order=10,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.WRITE,
                gettext_lazy("Page tree"),
                "admin:content_post_tree",
                "tree",
                permissions=("posts.view",),
            ),
            order=15,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.WRITE,
                gettext_lazy("Translations"),
                "admin:content-translations",
                "translate",
                permissions=("posts.view",),
            ),
            order=55,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Background jobs"),
                "admin:content_postjob_changelist",
                "rows",
                is_frequent=False,
                permissions=("posts.edit",),
            ),
            order=85,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.WRITE,
                gettext_lazy("Trash"),
                "admin:content_post_trash",
                "trash",
                is_frequent=False,
                permissions=("posts.restore",),
            ),
            order=90,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.REVIEW,
                gettext_lazy("Inbox"),
                "admin:inbox",
                "inbox",
                permissions=("posts.view",),
                waiting=waiting_everywhere,
            ),
            order=10,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Global modules"),
                "admin:content_moduleinstance_changelist",
                "module",
                permissions=("globals.edit",),
            ),
            order=30,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Find and replace"),
                "admin:content_replacement_add",
                "replace",
                is_frequent=False,
                permissions=("content.replace",),
                tabs=(
                    NavigationTab(
                        gettext_lazy("Find and replace"), "admin:content_replacement_add"
                    ),
                    NavigationTab(
                        gettext_lazy("Earlier replacements"), "admin:content_replacement_changelist"
                    ),
                ),
            ),
            order=60,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("URL patterns"),
                "admin:content_urlpattern_changelist",
                "link",
                permissions=("urlPatterns.edit",),
            ),
            order=60,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Approval"),
                "admin:shared-approval",
                "check",
                permissions=("settings.manage",),
            ),
            order=75,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Module groups"),
                "admin:content_modulegroup_changelist",
                "group",
                permissions=("settings.manage",),
            ),
            order=70,
        )
        for kind in (*notifications.KINDS, *shared_notifications.KINDS):
            register_kind(kind)
