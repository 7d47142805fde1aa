"""Event types of archives."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

EXPORTED: Final = "archive.exported"
IMPORTED: Final = "archive.imported"

KINDS = (
    EventKind(EXPORTED, "Content exported as an archive", "settings.manage"),
    EventKind(IMPORTED, "Archive imported", "settings.manage", is_live=True),
)
