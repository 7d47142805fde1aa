"""Digests of the entries of the activity log."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC

from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event


def columns_of(event: Event) -> JsonObject:
    """Return the event's immutable fields, without the payload."""
    return {
        "id": event.pk,
        "uid": str(event.uid),
        "name": event.name,
        "version": event.version,
        "post_id": str(event.post_id) if event.post_id else None,
        "actor_id": event.actor_id,
        "actor_name": event.actor_name,
        "via": event.via,
        "credential": event.credential,
        "agent_id": event.agent_id,
        "run_id": event.run_id,
        "cause_id": event.cause_id,
        "hop": event.hop,
        # One zone and one precision, so that the digest does not depend on the session or the database.
        "created_at": event.created_at.astimezone(UTC).isoformat(timespec="microseconds"),
    }


def facts_of(event: Event) -> str:
    """Return the digest of the event's immutable fields, without the payload."""
    return _sha256(_canonical(columns_of(event)))


def payload_of(event: Event, salt: str) -> str:
    """Return the salted digest of the payload as it was read from the database."""
    return _sha256(salt + _canonical(event.payload))


def link_of(seq: int, before: str, facts: str, payload: str) -> str:
    """Return the hash of a link."""
    return _sha256(f"{seq}\n{before}\n{facts}\n{payload}")


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
