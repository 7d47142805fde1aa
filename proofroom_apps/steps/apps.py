"""Registers the app with Django."""

from django.apps import AppConfig


class StepsConfig(AppConfig):
    name = "proofroom_apps.steps"
    label = "proofroom_steps"
    verbose_name = "Editorial steps"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.notifications.services import register_kind
        from proofroom_apps.steps.changed_content import subscribe_to_changes
        from proofroom_apps.steps.gates import register_gates
        from proofroom_apps.steps.guests import subscribe_to_advice
        from proofroom_apps.steps.notifications import KINDS

        register_gates()
        subscribe_to_advice()
        subscribe_to_changes()
        for kind in KINDS:
            register_kind(kind)
