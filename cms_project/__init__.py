"""The project: settings, addresses and entry points. The only package that knows every app."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cms_project.own_packages import require_own_packages

if TYPE_CHECKING:
    from celery import Celery

    celery_app: Celery

# Before the settings: they import from these packages.
require_own_packages()

# For a task that somebody calls before the application is loaded.
os.environ.setdefault("CELERY_LOADER", "cms_project.celery:ProjectLoader")


def __getattr__(name: str) -> Celery:
    """`celery_app`, loaded by whoever asks: a web process has no use for it until something is queued."""
    if name != "celery_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cms_project.celery import app

    return app
