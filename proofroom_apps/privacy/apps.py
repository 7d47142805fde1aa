"""Registers the app with Django, its pages with the navigation, and its check."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import register
from django.utils.translation import gettext_lazy


class PrivacyConfig(AppConfig):
    """Requests of people about their data, retention, and what the site stores in browsers."""

    name = "proofroom_apps.privacy"
    label = "proofroom_privacy"
    verbose_name = "Personal data"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom_apps.privacy.checks import check_declarations

        register(check_declarations)
        first = "admin:proofroom_privacy_personaldatarequest_changelist"
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Personal data"),
                first,
                "person",
                permissions=("privacy.manage",),
                tabs=(
                    NavigationTab(gettext_lazy("Requests"), first),
                    NavigationTab(
                        gettext_lazy("Retention"),
                        "admin:proofroom_privacy_personaldatarequest_retention",
                    ),
                    NavigationTab(
                        gettext_lazy("Cookies and consent"),
                        "admin:proofroom_privacy_personaldatarequest_cookies",
                    ),
                ),
            ),
            order=15,
        )
