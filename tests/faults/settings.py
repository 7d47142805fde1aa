"""The product's settings with frequent sweeps."""

from __future__ import annotations

from cms_project.settings import *  # noqa: F403
from cms_project.settings import CELERY_BEAT_SCHEDULE, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.apps.FaultsConfig"]
CELERY_BEAT_SCHEDULE = {
    name: {**CELERY_BEAT_SCHEDULE[name], "schedule": 1.0, "options": {"expires": 5.0}}
    for name in ("core.tasks.sweep_events", "webhooks.tasks.sweep_deliveries")
}
