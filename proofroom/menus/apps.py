"""Registers the app with Django."""

from django.apps import AppConfig


class MenusConfig(AppConfig):
    name = "proofroom.menus"
    label = "proofroom_menus"
    verbose_name = "Content"  # the section of the admin that its list stands in
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.find_replace import text_sources
        from proofroom.menus.find_replace import MENUS

        text_sources.register(MENUS)
