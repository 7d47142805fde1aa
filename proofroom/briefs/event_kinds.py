"""Kinds of events of editorial briefs."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_VIEW: Final = "posts.view"

KINDS = (
    EventKind("brief.created", "Editorial brief created", _VIEW),
    EventKind("brief.changed", "Editorial brief changed", _VIEW),
    EventKind("brief.deleted", "Editorial brief deleted", _VIEW),
)
