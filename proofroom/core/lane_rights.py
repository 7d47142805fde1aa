"""What the database role of agents may do with the tables of the system."""

from __future__ import annotations

from typing import Final

from proofroom.core.event_kinds import LIVE_CHANGED
from proofroom.core.lane import hidden, readable, writable
from proofroom.core.outbox.events import all_kinds

_BY_PEOPLE: Final = ("post.publish", "post.approve", "post.review.")
"""Beginnings of the names of events that say that a person changed live content or Review."""
_OF_PROPOSALS: Final = frozenset({"post.created"})
"""Kinds that change what caches hold, and that a proposed post has as well."""


def _events_of_agents() -> str:
    """Return the condition on events: the role cannot tell others that live content or Review has changed."""
    names = [
        kind.name
        for kind in all_kinds()
        if (kind.is_live and kind.name not in _OF_PROPOSALS)
        or kind.name == LIVE_CHANGED
        or kind.name.startswith(_BY_PEOPLE)
    ]
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"name NOT IN ({quoted}) AND is_sealed = false"


RIGHTS: Final = (
    *writable("proofroom_core.Event", inserts=True, rows=_events_of_agents),
    *writable("proofroom_core.QueueFailure", inserts=True, updates=None, deletes=True),
    *readable(
        "proofroom_core.ContentVersion",
        "proofroom_core.ScheduledTask",
        "proofroom_core.Seal",
        "contenttypes.ContentType",
        "auth.Permission",
        "auth.Group",
        "auth.Group_permissions",
    ),
    # Who can read a session is the person of that session.
    *hidden(
        "sessions.Session", "admin.LogEntry", "proofroom_core.ListView", "proofroom_core.LiveChange"
    ),
)
