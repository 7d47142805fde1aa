"""Registers the app with Django."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
    label = "core"
    verbose_name = "System"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import core.api.schema  # noqa: F401  # describes the sessions in the OpenAPI document
