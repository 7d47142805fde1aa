"""The project: settings, addresses and entry points. The only package that knows every app."""

from cms_project.celery import app as celery_app

__all__ = ["celery_app"]
