"""Reactions as the wire has them."""

from __future__ import annotations

from agents_app.models import RunReaction
from agents_app.reactions.reading import outcome_of
from content.store import iso
from core.json import JsonObject


def reaction(row: RunReaction) -> JsonObject:
    """One reaction to a run. Of an address only the host is told."""
    outcome = outcome_of(row)
    return {
        "number": row.number,
        "type": row.kind,
        "trigger": row.trigger,
        "target": row.target,
        "status": outcome.status,
        "attempts": outcome.attempts,
        "nextAttemptAt": iso(outcome.next_attempt_at),
        "error": outcome.error or None,
        "deliveryId": str(row.delivery_id) if row.delivery_id else None,
        "createdAt": iso(row.created_at),
        "finishedAt": iso(outcome.finished_at),
    }
