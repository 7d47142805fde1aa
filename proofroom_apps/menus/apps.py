"""Registers the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class MenusConfig(AppConfig):
    name = "proofroom_apps.menus"
    label = "proofroom_menus"
    verbose_name = "Content"  # the section of the admin with its list
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.post_checks.context import linked_posts
        from proofroom.archive.registry import archive_kinds
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.find_replace import text_sources
        from proofroom.shared_content.shared_types import MENU, shared_kinds
        from proofroom_apps.menus.archive import MenuArchive
        from proofroom_apps.menus.find_replace import MENUS
        from proofroom_apps.menus.links import posts_in_menus
        from proofroom_apps.menus.shared_kind import MenuKind

        linked_posts.register(posts_in_menus)
        archive_kinds.register(MenuArchive(), name=MenuArchive.name, order=110)
        text_sources.register(MENUS)
        shared_kinds.register(MenuKind(), name=MENU, order=20)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Menus"),
                "admin:proofroom_menus_menu_changelist",
                "menu",
                permissions=("menus.edit",),
            ),
            order=10,
        )
