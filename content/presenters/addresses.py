"""URL patterns as the wire has them."""

from __future__ import annotations

from content.models import UrlPattern
from content.presenters.modules import Wire
from content.store import iso


def url_pattern(row: UrlPattern) -> Wire:
    return {
        "id": str(row.pk),
        "type": row.type,
        "locale": row.locale,
        "pattern": row.pattern,
        "pending": row.is_pending,
        "version": row.version,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }
