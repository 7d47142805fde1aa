"""Notification of open admin pages over websockets, each user only about what they may view.

A message names an event but has no content: pages fetch what they show with their own permissions. Messages are not
stored; a page that reconnects too late gets a message to reload. The app that defines posts registers a
`PostAudience`, which decides who receives events about them.
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
