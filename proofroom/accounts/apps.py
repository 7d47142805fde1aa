"""The Django app of accounts."""

from django.apps import AppConfig
from django.apps.registry import Apps
from django.apps.registry import apps as global_apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy


def _write_declared_roles(sender: AppConfig, apps: Apps = global_apps, **_sent: object) -> None:
    from proofroom.accounts.services.roles import write_declared_roles

    if "siterole" in apps.all_models[sender.label]:  # False after the migrations were reversed
        write_declared_roles()


class AccountsConfig(AppConfig):
    name = "proofroom.accounts"
    label = "proofroom_accounts"
    verbose_name = "People"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.accounts.allauth_events import connect_signals
        from proofroom.accounts.queries import account_names, people_role_choices, token_names
        from proofroom.core.activity.presenters import name_lookups
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom.core.list_views import role_choices

        connect_signals()
        role_choices.register(people_role_choices, name="people")
        post_migrate.connect(_write_declared_roles, sender=self)
        name_lookups.register(token_names, name="token")
        name_lookups.register(account_names, name="account")
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("People"),
                "admin:proofroom_accounts_user_changelist",
                "people",
                permissions=("users.manage",),
                tabs=(
                    NavigationTab(
                        gettext_lazy("Accounts"), "admin:proofroom_accounts_user_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("Invitations"),
                        "admin:proofroom_accounts_invitation_changelist",
                    ),
                    NavigationTab(
                        gettext_lazy("Roles"), "admin:proofroom_accounts_siterole_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("Who can do what"), "admin:proofroom_accounts_siterole_access"
                    ),
                ),
            ),
            order=10,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("API tokens"),
                "admin:proofroom_accounts_apitoken_changelist",
                "key",
                permissions=("tokens.manage",),
                tabs=(
                    NavigationTab(
                        gettext_lazy("API tokens"), "admin:proofroom_accounts_apitoken_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("Delivery tokens"),
                        "admin:proofroom_accounts_deliverytoken_changelist",
                    ),
                ),
            ),
            order=35,
        )
