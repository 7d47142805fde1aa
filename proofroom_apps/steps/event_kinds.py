"""Kinds of events of editorial steps."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_VIEW: Final = "posts.view"

KINDS: Final = (
    EventKind("post.step.opened", "Editorial step opened", _VIEW),
    EventKind("post.step.agreed", "Editorial step agreed to", _VIEW),
    EventKind("post.step.returned", "Content sent back to a step", _VIEW),
    EventKind("post.step.due", "Editorial step due", _VIEW),
    EventKind("post.step.due-changed", "Due date of an editorial step changed", _VIEW),
    EventKind("post.step.stopped", "Editorial step waits for people", _VIEW),
    EventKind("post.steps.done", "Editorial steps done", _VIEW),
)
