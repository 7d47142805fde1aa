"""The times when daily tasks were last done."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

OVERDUE_AFTER: Final = timedelta(hours=48)
_FIRST_MIGRATION: Final = ("proofroom_core", "0001_initial")
"""The migration since which these times are recorded. Before it, no task counts as overdue."""


def note_done(name: str) -> None:
    """Record that a daily task was done now."""
    from proofroom.core.models import ScheduledTask  # tasks are imported before models are loaded

    ScheduledTask.objects.update_or_create(name=name, defaults={"done_at": timezone.now()})


def overdue_tasks() -> list[str]:
    """Return the names of daily tasks that were not done for two days. Two queries."""
    from proofroom.core.models import ScheduledTask

    app, name = _FIRST_MIGRATION
    since = MigrationRecorder.Migration.objects.filter(app=app, name=name).first()
    done = dict(ScheduledTask.objects.values_list("name", "done_at"))
    begun = since.applied if since is not None else timezone.now()
    limit = timezone.now() - OVERDUE_AFTER
    return [name for name in settings.DAILY_TASKS if done.get(name, begun) < limit]
