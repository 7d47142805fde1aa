"""Registers the app with Django."""

from django.apps import AppConfig


class PreviewsConfig(AppConfig):
    name = "proofroom_apps.previews"
    label = "proofroom_previews"
    verbose_name = "Previews"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom_apps.previews.models import PreviewLink
        from proofroom_apps.previews.services import link_tables

        link_tables.register(PreviewLink)
