from __future__ import annotations

from django.apps import AppConfig


class SeoConfig(AppConfig):
    """Redirects: where addresses that moved lead."""

    name = "seo"
    default_auto_field = "django.db.models.BigAutoField"
