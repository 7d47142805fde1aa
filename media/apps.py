"""Registers the app with Django."""

from django.apps import AppConfig


class MediaConfig(AppConfig):
    name = "media"
    label = "media"
    verbose_name = "Media"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import replacing
        from media import tools  # noqa: F401  # they register themselves
        from media.replacing import MEDIA

        replacing.text_sources.register(MEDIA)
