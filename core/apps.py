"""Registers the app with Django."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class CoreConfig(AppConfig):
    name = "core"
    label = "core"
    verbose_name = "System"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import core.api.schema  # noqa: F401  # describes the sessions in the OpenAPI document
        from core import events, schema_changes
        from core.activity.sealing import drop_salts
        from core.words.models import speak_the_readers_language

        speak_the_readers_language()
        events.events_forgotten.register(drop_salts)
        pre_migrate.connect(schema_changes.begin, sender=self)
        post_migrate.connect(schema_changes.end, sender=self)
