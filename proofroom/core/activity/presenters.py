"""Entries as the API, the export, the admin and tools show them: without words of visitors, without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, cast

from django.utils.translation import gettext as _
from pydantic import Field, JsonValue, WithJsonSchema
from typing_extensions import TypedDict

from proofroom.core.activity.sentences import channel_label, quote, sentence_of
from proofroom.core.actor import Actor
from proofroom.core.api.answer import Person
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.i18n import in_words
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event, Seal
from proofroom.core.outbox.event_kinds import find_kind

Namer = Callable[[Collection[str], Actor], Mapping[str, str]]
"""Answers names by id, in one query, leaving out what the actor may not know of."""
name_lookups: ExtensionPoint[Namer] = ExtensionPoint()
"""By what they name: `post` or `token`."""


def names_of(what: str, ids: Collection[str], actor: Actor) -> Mapping[str, str]:
    namer = name_lookups.get(what)
    return namer(ids, actor) if namer is not None and ids else {}


_SECRET: Final = re.compile(
    r"(?:secret|password|credential|authorization|cookie|(?:api|auth|private)[-_]?key|token)s?$",
    re.IGNORECASE,
)
_PLAIN: Final = frozenset(
    ("id", "what", "did", "enabled", "status", "scope", "layer", "formSlug", "submissionId")
)
"""What an entry says to whoever may know of it, but not of the thing that it is about."""
_DEEPEST: Final = 20
HIDDEN: Final = "[hidden]"


class SealAnswer(TypedDict):
    """The entry's link in the chain."""

    seq: Annotated[int, Field(ge=1)]
    hash: str
    sealedAt: datetime


class EntryAnswer(TypedDict):
    """Something that somebody did. Of what visitors wrote, and of secrets, nothing is shown."""

    id: Annotated[int, Field(ge=1)]
    uid: Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
    event: str
    label: str
    sentence: str
    createdAt: datetime
    actor: Person
    via: str
    door: str
    credential: str
    agentId: str | None
    runId: str | None
    postId: Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})] | None
    postTitle: str | None
    causeId: int | None
    private: bool
    forgottenAt: datetime | None
    payload: Annotated[
        dict[str, JsonValue], WithJsonSchema({"type": "object", "additionalProperties": {}})
    ]
    seal: SealAnswer | None


def present(events: Sequence[Event], actor: Actor) -> list[EntryAnswer]:
    """A page of entries, with the names of what the actor may know of. Two queries."""
    post_ids = {str(event.post_id) for event in events if event.post_id is not None}
    tokens = {event.credential[6:] for event in events if event.credential[:6] == "token:"}
    posts, names = names_of("post", post_ids, actor), names_of("token", tokens, actor)
    return [_entry(event, posts, names, actor) for event in events]


def _entry(
    event: Event, posts: Mapping[str, str], tokens: Mapping[str, str], actor: Actor
) -> EntryAnswer:
    kind = find_kind(event.name)
    is_private = kind is None or kind.is_private
    payload = present_payload(event)
    if not _may_read(event, posts, actor):
        payload = {name: value for name, value in payload.items() if name in _PLAIN}
    post_id = None if event.post_id is None else str(event.post_id)
    title = None if post_id is None else posts.get(post_id)
    post = quote(title) if title else ""
    if post_id and not title:
        post = _("the post %(id)s") % {"id": post_id}
    who = event.actor_name or (event.actor.username if event.actor else _("somebody"))
    return {
        "id": event.pk,
        "uid": str(event.uid),
        "event": event.name,
        "label": in_words(kind.label) if kind else event.name,
        "sentence": sentence_of(event.name, payload, who, post),
        "createdAt": event.created_at,
        "actor": {"id": event.actor_id, "username": who},
        "via": event.via,
        "door": channel_label(event.via, event.credential, event.agent_id, tokens),
        "credential": event.credential,
        "agentId": event.agent_id or None,
        "runId": event.run_id or None,
        "postId": post_id,
        "postTitle": title,
        "causeId": event.cause_id,
        "private": is_private,
        "forgottenAt": event.forgotten_at,
        "payload": cast("dict[str, JsonValue]", payload),
        "seal": _seal(event),
    }


def _may_read(event: Event, posts: Mapping[str, str], actor: Actor) -> bool:
    """Whether it is more to the actor than that it happened: titles of posts stand in what entries say, too."""
    kind = find_kind(event.name)
    if kind is None or not (actor.diagnoses or actor.can(kind.permission)):
        return False
    is_there = event.post_id is None or str(event.post_id) in posts
    return is_there or actor.can("posts.restore")


def present_payload(event: Event) -> JsonObject:
    """Return what an entry says; of what visitors wrote only that they did, and in which form."""
    kind = find_kind(event.name)
    if kind is None or kind.is_private:
        known = ("formSlug", "submissionId")
        return {name: event.payload[name] for name in known if name in event.payload}
    return {str(name): _redacted(str(name), value, 0) for name, value in event.payload.items()}


def _redacted(name: str, value: Json, depth: int) -> Json:
    if depth > _DEEPEST or (_SECRET.search(name) and isinstance(value, str) and value):
        return HIDDEN
    if isinstance(value, Mapping):
        return {str(key): _redacted(str(key), item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(name, item, depth + 1) for item in value]
    return value


def _seal(event: Event) -> SealAnswer | None:
    try:
        seal = event.seal
    except Seal.DoesNotExist:
        return None
    return {"seq": seal.seq, "hash": seal.hash, "sealedAt": seal.made_at}
