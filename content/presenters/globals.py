"""Global modules and their history as the wire has them."""

from __future__ import annotations

from typing import Any

from content.models import ModuleInstance, ModuleRevision
from content.presenters.modules import Wire, module_schema
from content.store import iso


def global_module(row: ModuleInstance, affected: int, *, with_schema: bool = False) -> Wire:
    """`affected` is how many posts place it live."""
    wire: Wire = {
        "id": row.pk,
        "globalSlug": row.global_slug,
        "type": row.type,
        "label": row.label,
        "props": row.props,
        "version": row.version,
        "affectedPosts": affected,
        "updatedAt": iso(row.updated_at),
    }
    if with_schema:
        wire["schema"] = module_schema(row.type)
    return wire


def global_usage(row: dict[str, Any]) -> Wire:
    """A post that places a global module; `layer` is source, or the draft that proposes it."""
    wire = {name: row[name] for name in ("id", "title", "type", "locale", "status", "layer")}
    return {**wire, "url": row["path"]}


def module_revision(row: ModuleRevision) -> Wire:
    return {
        "id": row.pk,
        "version": row.version,
        "label": row.label,
        "props": row.props,
        "reason": row.reason,
        "by": {"id": row.by_id, "username": row.by_name},
        "createdAt": iso(row.created_at),
    }
