"""Kinds of events of feedback."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

KINDS: Final = (
    EventKind("feedback.created", "Feedback added", "feedback.view"),
    EventKind("feedback.changed", "Feedback changed", "feedback.view"),
    EventKind("feedback.deleted", "Feedback deleted", "feedback.view"),
)
