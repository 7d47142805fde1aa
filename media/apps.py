"""Registers the app with Django."""

from django.apps import AppConfig


class MediaConfig(AppConfig):
    name = "media"
    label = "media"
    verbose_name = "Media"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from media.find_replace import MEDIA
        from proofroom.core.find_replace import text_sources

        text_sources.register(MEDIA)
