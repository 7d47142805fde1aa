"""Redirects as the wire has them."""

from __future__ import annotations

from content.store import iso
from core.json import JsonObject
from seo.models import Redirect
from seo.services.importing import Imported
from seo.sitemap.keeping import Build, is_fresh
from seo.tracing import Trace


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


def trace(found: Trace) -> JsonObject:
    return {
        "path": found.path,
        "outcome": found.outcome,
        "status": found.status,
        "location": found.location,
        "steps": [
            {
                "step": step.name,
                "found": step.found,
                "sentence": step.sentence,
                "facts": step.facts,
            }
            for step in found.steps
        ],
    }


def sitemap(build: Build | None) -> JsonObject:
    """What is kept of the sitemap; noughts where nothing is."""
    return {
        "urls": build.urls if build else 0,
        "builtAt": iso(build.moment) if build else None,
        "cached": build is not None and is_fresh(build),
        "parts": build.parts if build else 0,
    }
