"""Registers the app with Django."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.translation import gettext_lazy


class CoreConfig(AppConfig):
    name = "proofroom.core"
    label = "proofroom_core"
    verbose_name = "System"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import proofroom.core.api.lazy_views  # registers its system check
        import proofroom.core.diagnostics.public_site  # as above
        import proofroom.core.lane.checks  # as above
        import proofroom.core.site_icon  # noqa: F401  # as above
        from proofroom.core import outbox
        from proofroom.core.activity.chain import drop_salts
        from proofroom.core.admin.lists import UNDO_KIND
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.admin.undo import undo_kinds
        from proofroom.core.database import migrate  # also registers a system check
        from proofroom.core.i18n.model_names import translate_model_names
        from proofroom.core.observability.metrics import read_metrics
        from proofroom.core.observability.operations import watch_connection
        from proofroom.core.outbox.metrics import read_backlog

        translate_model_names()
        undo_kinds.register(UNDO_KIND, name=UNDO_KIND.name)
        connection_created.connect(watch_connection)
        read_metrics.register(read_backlog)
        outbox.events_forgotten.register(drop_salts)
        pre_migrate.connect(migrate.begin, sender=self)
        post_migrate.connect(migrate.end, sender=self)
        navigation_entries.register(
            NavigationEntry(NavigationGroup.TOP, gettext_lazy("Home"), "admin:index", "home"),
            order=0,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.INSIGHTS,
                gettext_lazy("Activity log"),
                "admin:proofroom_core_event_changelist",
                "activity",
                is_frequent=False,
                permissions=("settings.manage",),
            ),
            order=30,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("System"),
                "admin:system",
                "settings",
                permissions=("settings.manage",),
            ),
            order=90,
        )
