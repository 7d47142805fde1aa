"""Kinds of events of sitemaps and redirect exports."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("redirects.exported", "Redirects exported", "redirects.edit"),
    EventKind("sitemap.rebuilt", "Sitemap updated", "seo.manage"),
)
