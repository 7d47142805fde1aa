"""Redirects as the wire has them."""

from __future__ import annotations

from content.store import iso
from core.json import JsonObject
from seo.models import Redirect


def redirect(row: Redirect) -> JsonObject:
    return {
        "id": str(row.pk),
        "fromPath": row.from_path,
        "toPath": row.to_path,
        "type": int(row.type),
        "locale": row.locale,
        "active": row.is_active,
        "automatic": row.is_automatic,
        "hits": row.hits,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }
