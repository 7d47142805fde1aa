"""The Celery application. Tasks are one-line wrappers in each app's `tasks.py`."""

from __future__ import annotations

import logging
import sys
from typing import Any

from celery import Celery
from celery.loaders.app import AppLoader
from celery.schedules import crontab
from celery.signals import worker_ready
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from cms_project.lane import AGENTS_QUEUE, is_lane_process, queues_of
from cms_project.settings_module import choose_settings

logger = logging.getLogger(__name__)

TRANSPORT_ALIASES["filesystem"] = "cms_project.file_queue:Transport"
choose_settings()


class ProjectLoader(AppLoader):
    """The loader of the application `default`, which Celery creates if a task is called before this module is
    loaded.
    """

    def read_configuration(self, env: str = "CELERY_CONFIG_MODULE") -> dict[str, Any]:
        if self.app.main != "default":
            return super().read_configuration(env)
        names = [name for name in dir(settings) if name.startswith("CELERY_")]
        return {name.removeprefix("CELERY_").lower(): getattr(settings, name) for name in names}


@worker_ready.connect
def serve_metrics(**kwargs: object) -> None:
    """Serve metrics for Prometheus from a worker, if configured."""
    from proofroom.core.observability import worker_metrics  # only workers load its server

    worker_metrics.serve_metrics()


@worker_ready.connect
def warn_of_mixed_queues(**kwargs: object) -> None:
    """Say in the log that a worker runs agents with all rights although there is a role for them."""
    queues = queues_of(sys.argv)
    takes_agents = not queues or AGENTS_QUEUE in queues
    if settings.CMS_ENV.lane_database_url and takes_agents and not is_lane_process(sys.argv):
        logger.warning(
            "This worker does not use LANE_DATABASE_URL, because it takes other queues than agents. Start one worker "
            "with --queues agents, and another with --queues celery,deliveries."
        )


app = Celery("cms", task_cls="proofroom.core.observability.tasks:ObservedTask", loader="app")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_configure.connect
def read_times(sender: Celery, **kwargs: object) -> None:
    """Parse cron expressions in the schedule. The settings hold strings, so that only Celery loads its classes."""
    for entry in sender.conf.beat_schedule.values():
        if isinstance(entry["schedule"], str):
            entry["schedule"] = crontab.from_string(entry["schedule"])
