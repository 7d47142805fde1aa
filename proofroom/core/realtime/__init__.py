"""Open admin pages hear over a websocket what happens, each person of what they may know.

A message names an event and never what it holds: pages fetch what they show with their own rights. Nothing is kept
for a page that is away for long; it is told to load again. An app that knows who may see the thing of an event says
so with `visibility_rules`, and which posts are outside of what somebody is limited to with `scope_rules`.
"""

from __future__ import annotations

from proofroom.core.realtime.messages import (
    PRESENCE_CHANNEL,
    EventMessage,
    IsOutside,
    MayHear,
    OpenEditor,
    presence_sources,
    scope_rules,
    visibility_rules,
)

__all__ = [
    "PRESENCE_CHANNEL",
    "EventMessage",
    "IsOutside",
    "MayHear",
    "OpenEditor",
    "presence_sources",
    "scope_rules",
    "visibility_rules",
]
