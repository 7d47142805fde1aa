"""Kinds of events of imports."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

EXPORT_FAILED: Final = "archive.export-failed"

KINDS: Final = (
    EventKind("content.imported", "Content imported", "posts.create"),
    EventKind(EXPORT_FAILED, "Scheduled export failed", "settings.manage"),
    EventKind("archive.schedule-changed", "Schedule of exports changed", "settings.manage"),
)
