from __future__ import annotations

from django.apps import AppConfig


class FormsConfig(AppConfig):
    """Form definitions and what visitors submit."""

    name = "forms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import replacing
        from forms.replacing import FORMS

        replacing.register(FORMS)
