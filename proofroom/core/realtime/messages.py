"""Messages to open pages: that an event happened, and who has a post open.

A message never contains a title, a payload or text from visitors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from uuid import UUID

from django.db.models import Q

from proofroom.core.actor import ActorUser
from proofroom.core.content_scope import Scoped, reading_scopes
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.events import find_kind, kind_of


@dataclass(frozen=True, slots=True)
class EventMessage:
    """The parts of an event that all recipients may see."""

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
    """Return the first matching events in order of id. One query."""
    rows = Event.objects.filter(which).order_by("id").values_list(*_COLUMNS)[:most]
    return [EventMessage(*row) for row in rows]


def load_last_events(most: int) -> list[EventMessage]:
    """Return the last events in order of id. One query."""
    rows = Event.objects.order_by("-id").values_list(*_COLUMNS)[:most]
    return [EventMessage(*row) for row in reversed(rows)]


def message(event: EventMessage, user_id: int) -> JsonObject:
    """Return the message about an event for one user."""
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


@dataclass(frozen=True, slots=True)
class OpenEditor:
    """An open page of a user. `key` is the page's own id, by which it finds itself in the list."""

    key: str
    user_id: int
    name: str
    layer: str
    since: str


MayHear = Callable[[ActorUser, EventMessage], bool]
IsOutside = Callable[[Scoped, UUID], bool]


class PostAudience(Protocol):
    """Which users may receive events about a post, and which have it open.

    The app that defines posts registers its implementation. The returned functions make no query.
    """

    def visibility_of(self, events: Sequence[EventMessage]) -> MayHear:
        """Return a function that tests whether a user may receive one of these events. One query."""

    def scopes_of(self, post_ids: Collection[UUID], people: Collection[Scoped]) -> IsOutside:
        """Return a function that tests whether one of these posts is outside of a user's scopes.

        One query per set of scopes.
        """

    def list_open_editors(self, post_ids: Collection[UUID]) -> Mapping[UUID, Sequence[OpenEditor]]:
        """Return the open editors by post. At most one query."""


post_audiences: ExtensionPoint[PostAudience] = ExtensionPoint()


def find_outside(post_ids: Collection[UUID], people: Collection[Scoped]) -> IsOutside:
    """Return a function that tests whether one of these posts is outside of a user's scopes."""
    limited = [person for person in people if reading_scopes(person)]
    if not post_ids or not limited:
        return lambda person, post_id: False
    answers = [audience.scopes_of(post_ids, limited) for audience in post_audiences]
    return lambda person, post_id: any(answer(person, post_id) for answer in answers)


def may_hear_of(events: Sequence[EventMessage], people: Collection[ActorUser]) -> MayHear:
    """Return a function that tests whether a user may receive an event.

    It checks the event's permission, the visibility of its post, and the user's scopes.
    """
    answers = [audience.visibility_of(events) for audience in post_audiences] if events else []
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


PRESENCE_CHANNEL: Final = "presence"
"""The channel of notifications that a user opened or left a post."""


def open_editors_of(post_ids: Collection[UUID]) -> dict[UUID, list[OpenEditor]]:
    """Return the open pages of these posts."""
    found: dict[UUID, list[OpenEditor]] = {}
    if post_ids:
        for audience in post_audiences:
            for post_id, pages in audience.list_open_editors(post_ids).items():
                found.setdefault(post_id, []).extend(pages)
    return found


def presence_message(user_id: int, pages: Sequence[OpenEditor]) -> list[JsonObject]:
    """Return the message about open pages for one user."""
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
