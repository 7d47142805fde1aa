"""The project: settings, URLs and entry points. The only package that knows every app."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cms_project.own_packages import require_own_packages

if TYPE_CHECKING:
    from celery import Celery

    celery_app: Celery

# Before the settings, which import from these packages.
require_own_packages()

# For a task that is called before the application is loaded.
os.environ.setdefault("CELERY_LOADER", "cms_project.celery:ProjectLoader")


def __getattr__(name: str) -> Celery:
    """Return `celery_app`. It is loaded on demand, because a web process needs it only to queue a task."""
    if name != "celery_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cms_project.celery import app

    return app
