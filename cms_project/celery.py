"""The Celery application. Tasks are one-line wrappers in each app's `tasks.py`."""

from __future__ import annotations

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

TRANSPORT_ALIASES["filesystem"] = "cms_project.file_queue:Transport"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")

app = Celery("cms", task_cls="proofroom.core.observability.tasks:ObservedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
