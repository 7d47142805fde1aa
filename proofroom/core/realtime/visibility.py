"""Decides who hears of an event, anew each time that something is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proofroom.core.actor import ActorUser
from proofroom.core.hooks import Hook
from proofroom.core.outbox.event_kinds import find_kind
from proofroom.core.realtime.messages import EventMessage

MayHear = Callable[[ActorUser, EventMessage], bool]
visibility_rules: Hook[[Sequence[EventMessage]], MayHear] = Hook()
"""Asked once for all that is told at a time, for the answer to who may hear of each.

A rule reads what it needs in as many queries for many events as for one; what it answers reads nothing.
"""


def may_hear_of(events: Sequence[EventMessage]) -> MayHear:
    """The answer for these events: by the permission of their kind, and every rule."""
    answers = visibility_rules(events) if events else []

    def may_hear(person: ActorUser, event: EventMessage) -> bool:
        kind = find_kind(event.name)
        return (
            kind is not None
            and (kind.is_progress or not kind.is_internal)
            and person.has_perm(kind.permission)
            and all(answer(person, event) for answer in answers)
        )

    return may_hear
