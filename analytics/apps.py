"""The app configuration of analytics."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy

from proofroom.core.database import migrate


class AnalyticsConfig(AppConfig):
    """Views and clicks, without cookies and without addresses."""

    name = "analytics"
    verbose_name = "Analytics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from analytics.goals import count_goal
        from analytics.health import figures, read_sweep_metrics, scheduler
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.diagnostics import doctor
        from proofroom.core.observability.metrics import read_metrics
        from proofroom_apps.website.goals import goal_listeners

        goal_listeners.register(count_goal)
        doctor.app_checks.register(("analytics", figures, doctor.CHECK_DATABASE))
        doctor.app_checks.register(("scheduler", scheduler, doctor.CHECK_DATABASE))
        read_metrics.register(read_sweep_metrics)
        # The first events can arrive before the scheduler's first daily run.
        post_migrate.connect(_create_partitions, sender=self)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.INSIGHTS,
                gettext_lazy("Analytics"),
                "admin:analytics_sitecount_changelist",
                "chart",
                permissions=("analytics.read",),
            ),
            order=10,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.INSIGHTS,
                gettext_lazy("Heatmaps"),
                "admin:analytics-heatmaps",
                "heatmap",
                is_frequent=False,
                permissions=("analytics.read",),
            ),
            order=11,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.INSIGHTS,
                gettext_lazy("Experiments"),
                "admin:analytics-experiments",
                "experiment",
                is_frequent=False,
                permissions=("posts.edit",),
            ),
            order=12,
        )


def _create_partitions(**kwargs: Any) -> None:
    if not migrate.is_complete():
        return
    from analytics.ingest.partitions import create_partitions_ahead

    create_partitions_ahead()
