"""What open pages are told: that an event happened, and who is at a post.

A message never holds a title, a payload or words of visitors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from proofroom.core.actor import ActorUser
from proofroom.core.content_scope import Scoped, reading_scopes
from proofroom.core.hooks import Hook
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.events import find_kind, kind_of


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


MayHear = Callable[[ActorUser, EventMessage], bool]
visibility_rules: Hook[[Sequence[EventMessage]], MayHear] = Hook()
"""Asked once for all that is told at a time, for the answer to who may hear of each.

A rule reads what it needs in as many queries for many events as for one; what it answers reads nothing.
"""


IsOutside = Callable[[Scoped, UUID], bool]
scope_rules: Hook[[Collection[UUID], Collection[Scoped]], IsOutside] = Hook()
"""Asked of posts and of those who would be told of them, for the answer to which posts are outside of the content
that each of them is limited to.

A query for each scope that limits any of them, none where nobody is limited; what a rule answers reads nothing.
"""


def find_outside(post_ids: Collection[UUID], people: Collection[Scoped]) -> IsOutside:
    """The answer for these posts, of every rule."""
    limited = [person for person in people if reading_scopes(person)]
    answers = scope_rules(post_ids, limited) if post_ids and limited else []
    return lambda person, post_id: any(answer(person, post_id) for answer in answers)


def may_hear_of(events: Sequence[EventMessage], people: Collection[ActorUser]) -> MayHear:
    """The answer for these events and people: by the permission of their kind, every rule, and their scopes."""
    answers = visibility_rules(events) if events else []
    posts = {event.post_id for event in events if event.post_id is not None}
    is_outside = find_outside(posts, people)

    def may_hear(person: ActorUser, event: EventMessage) -> bool:
        kind = find_kind(event.name)
        return (
            kind is not None
            and (kind.is_progress or not kind.is_internal)
            and person.has_perm(kind.permission)
            and all(answer(person, event) for answer in answers)
            and not (event.post_id is not None and is_outside(person, event.post_id))
        )

    return may_hear


@dataclass(frozen=True, slots=True)
class OpenEditor:
    """An open page of somebody. `key` is its own name for itself, by which it knows itself in the list."""

    key: str
    user_id: int
    name: str
    layer: str
    since: str


PRESENCE_CHANNEL: Final = "presence"
"""Of the notification that somebody opened or left a post."""
presence_sources: Hook[[Collection[UUID]], Mapping[UUID, Sequence[OpenEditor]]] = Hook()
"""Asked while pages of posts are open. At most one query, however many posts."""


def who_is_at(post_ids: Collection[UUID]) -> dict[UUID, list[OpenEditor]]:
    """Return who is at these posts."""
    found: dict[UUID, list[OpenEditor]] = {}
    if post_ids:
        for pages_by_post in presence_sources(post_ids):
            for post_id, pages in pages_by_post.items():
                found.setdefault(post_id, []).extend(pages)
    return found


def presence_message(user_id: int, pages: Sequence[OpenEditor]) -> list[JsonObject]:
    """The pages on the wire, for one person."""
    return [
        {
            "key": page.key,
            "name": page.name,
            "layer": page.layer,
            "since": page.since,
            "mine": page.user_id == user_id,
        }
        for page in pages
    ]
