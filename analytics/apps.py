"""Registers the app with Django."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from proofroom.core.database import schema_changes


class AnalyticsConfig(AppConfig):
    """Views and clicks, without cookies and without addresses."""

    name = "analytics"
    verbose_name = "Analytics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from analytics.health import figures
        from analytics.ingest.goals import goal_reached
        from proofroom.core.diagnostics import doctor
        from proofroom.website.goals import goal_listeners

        goal_listeners.register(goal_reached)
        doctor.app_checks.register(("analytics", figures, "run ./run migrate first"))
        # The first views come before the scheduler's first day is over.
        post_migrate.connect(_keep_months, sender=self)


def _keep_months(**kwargs: Any) -> None:
    if not schema_changes.is_complete():
        return
    from analytics.ingest.partitions import keep_ahead

    keep_ahead()
