"""Chains of runs as the wire has them."""

from __future__ import annotations

from agents_app.models import AgentRun
from agents_app.runs.chain import Chain, ChainLink
from content.store import iso
from core import events
from core.actor import Actor
from core.json import JsonObject
from core.models import Event

HIDDEN = "event"
"""The name of an event that the reader may not learn of."""


def chain(found: Chain, actor: Actor) -> JsonObject:
    """The chain for this reader: of events that are not for them only that there was one is told."""
    return {
        "causes": [_link(link, actor) for link in found.causes],
        "run": _run(found.run),
        "caused": [_link(link, actor) for link in found.caused],
    }


def _link(link: ChainLink, actor: Actor) -> JsonObject:
    if link.run is not None:
        return _run(link.run)
    if link.event is None:
        raise ValueError("a link is an event or a run")
    kind = events.find_kind(link.event.name)
    if kind is None or not actor.can(kind.permission):
        return {**_EMPTY, "kind": "event", "name": HIDDEN, "at": iso(link.event.created_at)}
    return _event(link.event)


_EMPTY: JsonObject = {
    "id": None,
    "agentId": None,
    "scope": None,
    "status": None,
    "postId": None,
    "by": None,
}


def _event(event: Event) -> JsonObject:
    return {
        **_EMPTY,
        "kind": "event",
        "id": str(event.uid),
        "name": event.name,
        "agentId": event.agent_id or None,
        "postId": str(event.post_id) if event.post_id else None,
        "at": iso(event.created_at),
        "by": {"id": event.actor_id, "username": event.actor_name},
    }


def _run(run: AgentRun) -> JsonObject:
    return {
        "kind": "run",
        "id": str(run.pk),
        "name": run.agent_id,
        "agentId": run.agent_id,
        "scope": run.scope,
        "status": run.status,
        "postId": str(run.post_id) if run.post_id else None,
        "at": iso(run.created_at),
        "by": {"id": run.by_id, "username": run.by_name},
    }
