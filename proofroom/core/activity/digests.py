"""Digests of the links of the chain."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from proofroom.core.json import Json
from proofroom.core.models import Event

BEFORE_FIRST: Final = "0" * 64
"""What stands for the link before the first one."""


def facts_of(event: Event) -> str:
    """The digest of everything about an event that never changes, but its payload."""
    return _sha256(
        _canonical(
            {
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
                "created_at": _moment(event.created_at),
            }
        )
    )


def payload_of(event: Event, salt: str) -> str:
    """The digest of the payload as the database gives it back."""
    return _sha256(salt + _canonical(event.payload))


def link_of(seq: int, before: str, facts: str, payload: str) -> str:
    """The hash of a link."""
    return _sha256(f"{seq}\n{before}\n{facts}\n{payload}")


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
