"""Revisions and provenance as the wire has them."""

from __future__ import annotations

from content.models import Provenance, Revision
from content.presenters.modules import Wire
from content.store import iso


def revision(row: Revision, *, with_document: bool = False) -> Wire:
    wire: Wire = {
        "id": row.pk,
        "version": row.version,
        "layer": "source",
        "reason": row.reason,
        "note": row.note,
        "by": {"id": row.by_id, "username": row.by_name},
        "agentId": row.agent_id or None,
        "runId": row.run_id or None,
        "createdAt": iso(row.created_at),
        "changedPaths": row.changed_paths,
    }
    if with_document:
        wire["document"] = row.document
    return wire


def provenance(row: Provenance) -> Wire:
    return {
        "path": row.path,
        "author": {"id": row.author_id, "username": row.author_name},
        "agentId": row.agent_id or None,
        "runId": row.run_id or None,
        "via": row.via,
        "principal": row.principal or None,
        "editedBy": row.edited_by_name or None,
        "approvedBy": {"id": row.approved_by_id, "username": row.approved_by_name},
        "revisionId": row.revision_id,
        "writtenAt": iso(row.written_at),
        "publishedAt": iso(row.created_at),
    }
