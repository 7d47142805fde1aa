"""Open admin pages hear over a websocket what happens, each person of what they may know.

A message names an event and never what it holds: pages fetch what they show with their own rights. Nothing is kept
for a page that is away for long; it is told to load again. The app that defines posts registers a
`PostAudience`, which knows who may hear of them.
"""

from __future__ import annotations

from proofroom.core.realtime.messages import (
    PRESENCE_CHANNEL,
    EventMessage,
    IsOutside,
    MayHear,
    OpenEditor,
    PostAudience,
    post_audiences,
)

__all__ = [
    "PRESENCE_CHANNEL",
    "EventMessage",
    "IsOutside",
    "MayHear",
    "OpenEditor",
    "PostAudience",
    "post_audiences",
]
