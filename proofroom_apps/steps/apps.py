"""Registers the app with Django."""

from django.apps import AppConfig


class StepsConfig(AppConfig):
    name = "proofroom_apps.steps"
    label = "proofroom_steps"
    verbose_name = "Editorial steps"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom_apps.steps.gates import register_gates

        register_gates()
