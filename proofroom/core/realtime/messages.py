"""Messages to open pages: that an event happened, never a title, a payload or words of visitors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.event_kinds import kind_of


@dataclass(frozen=True, slots=True)
class EventMessage:
    """An event, as far as anybody may hear of it."""

    id: int
    uid: UUID
    name: str
    post_id: UUID | None
    actor_id: int | None
    actor_name: str
    via: str
    agent_id: str
    run_id: str
    at: datetime


_COLUMNS: Final = (
    "id",
    "uid",
    "name",
    "post_id",
    "actor_id",
    "actor_name",
    "via",
    "agent_id",
    "run_id",
    "created_at",
)


def load_events(which: Q, most: int) -> list[EventMessage]:
    """The first events of these, in order of id. One query."""
    rows = Event.objects.filter(which).order_by("id").values_list(*_COLUMNS)[:most]
    return [EventMessage(*row) for row in rows]


def load_last_events(most: int) -> list[EventMessage]:
    """The last events, in order of id. One query."""
    rows = Event.objects.order_by("-id").values_list(*_COLUMNS)[:most]
    return [EventMessage(*row) for row in reversed(rows)]


def message(event: EventMessage, user_id: int) -> JsonObject:
    """The event on the wire, for one person."""
    return {
        "id": str(event.uid),
        "event": event.name,
        "label": kind_of(event.name).label,
        "postId": str(event.post_id) if event.post_id else None,
        "at": event.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "by": event.actor_name,
        "via": event.via,
        "agentId": event.agent_id or None,
        "runId": event.run_id or None,
        "mine": event.actor_id == user_id,
    }
