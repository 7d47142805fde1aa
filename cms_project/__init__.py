"""The project: settings, addresses and entry points. The only package that knows every app."""

from cms_project.celery import app as celery_app
from cms_project.own_packages import require_own_packages

__all__ = ["celery_app"]

# Before the settings: they import from these packages.
require_own_packages()
