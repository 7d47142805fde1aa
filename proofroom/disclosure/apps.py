"""The Django app of the disclosure of AI work."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class DisclosureConfig(AppConfig):
    name = "proofroom.disclosure"
    label = "proofroom_disclosure"
    verbose_name = "Disclosure of AI work"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.disclosure.services import subscribe_disclosure

        subscribe_disclosure()
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Disclosure of AI"),
                "admin:proofroom_disclosure_disclosuresettings_changelist",
                "eye",
                permissions=("disclosure.edit",),
            ),
            order=22,
        )
