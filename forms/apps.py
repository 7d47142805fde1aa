from __future__ import annotations

from django.apps import AppConfig


class FormsConfig(AppConfig):
    """Form definitions and what visitors submit."""

    name = "forms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.rules import references
        from content.site import sources
        from core import replacing
        from forms.queries import existing_forms
        from forms.replacing import FORMS
        from forms.site import load_forms

        replacing.register(FORMS)
        sources.register("forms", load_forms, field="form-reference")
        references.register("form-reference", existing_forms)
