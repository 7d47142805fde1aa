"""Redirects as the wire has them."""

from __future__ import annotations

from content.store import iso
from core.json import JsonObject
from seo.models import Redirect
from seo.services.importing import Imported


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


def imported(done: Imported) -> JsonObject:
    return {
        "created": done.created,
        "changed": done.changed,
        "unchanged": done.unchanged,
        "errors": [
            {"line": problem.line, "field": problem.field or None, "message": problem.sentence}
            for problem in done.problems
        ],
    }
