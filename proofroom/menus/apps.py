"""Registers the app with Django."""

from django.apps import AppConfig


class MenusConfig(AppConfig):
    name = "proofroom.menus"
    label = "proofroom_menus"
    verbose_name = "Menus"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.find_replace import text_sources
        from proofroom.menus.find_replace import MENUS

        text_sources.register(MENUS)
