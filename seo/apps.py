"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class SeoConfig(AppConfig):
    """Redirects, the sitemap, and why an address answers as it does."""

    name = "seo"
    verbose_name = "SEO"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from core import events, replacing
        from seo import tools  # noqa: F401  # registers itself
        from seo.replacing import RedirectSource
        from seo.subscribers import ARRIVED, MOVED, lead_on, make_room

        events.subscribe_inside(MOVED, lead_on)
        events.subscribe_inside(ARRIVED, make_room)
        replacing.text_sources.register(RedirectSource(), name="redirects")
