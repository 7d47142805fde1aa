"""Open admin pages hear over a websocket what happens, each person of what they may know.

A message names an event and never what it holds: pages fetch what they show with their own rights. Nothing is kept
for a page that is away for long; it is told to load again. An app that knows who may see the thing of an event says
so with `visibility_rules`.
"""

from __future__ import annotations

from proofroom.core.realtime.messages import (
    PRESENCE_CHANNEL,
    EventMessage,
    MayHear,
    OpenEditor,
    presence_sources,
    visibility_rules,
)

__all__ = [
    "PRESENCE_CHANNEL",
    "EventMessage",
    "MayHear",
    "OpenEditor",
    "presence_sources",
    "visibility_rules",
]
