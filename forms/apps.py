"""The app configuration: registers forms with notifications, archives, search, references and navigation."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class FormsConfig(AppConfig):
    """Form definitions and submissions."""

    name = "forms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.comparison.references import title_lookups
        from content.rules.references import reference_lookups
        from forms.archive import FormArchive
        from forms.find_replace import FORMS
        from forms.notifications import KINDS
        from forms.queries import existing_forms, titles_of_forms
        from forms.rendering import load_forms
        from forms.services.confirmations import subscribe_to_submissions
        from proofroom.archive.registry import archive_kinds
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom.core.find_replace import text_sources
        from proofroom.notifications.services import register_kind
        from proofroom_apps.website.prefetch import ModuleSource, module_sources

        for kind in KINDS:
            register_kind(kind)
        subscribe_to_submissions()
        archive_kinds.register(FormArchive(), name=FormArchive.name, order=30)
        text_sources.register(FORMS)
        module_sources.register(ModuleSource("forms", "form-reference", load_forms))
        reference_lookups.register(existing_forms, name="form-reference")
        title_lookups.register(titles_of_forms, name="form-reference")
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.WRITE,
                gettext_lazy("Forms"),
                "admin:forms_formdefinition_changelist",
                "form",
                permissions=("forms.edit",),
                tabs=(
                    NavigationTab(gettext_lazy("Forms"), "admin:forms_formdefinition_changelist"),
                    NavigationTab(
                        gettext_lazy("Submissions"),
                        "admin:forms_formsubmission_changelist",
                        "forms.submissions",
                    ),
                ),
            ),
            order=50,
        )
