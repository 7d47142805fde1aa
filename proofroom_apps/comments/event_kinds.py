"""Kinds of events of comments."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_VIEW: Final = "comments.view"

KINDS: Final = (
    EventKind("comment.created", "Comment added", _VIEW),
    EventKind("comment.changed", "Comment changed", _VIEW),
    EventKind("comment.resolved", "Comment resolved", _VIEW),
    EventKind("comment.reopened", "Comment reopened", _VIEW),
    EventKind("comment.deleted", "Comment deleted", _VIEW),
    EventKind("comment.due", "Comment due", _VIEW),
)
