"""What is recorded of media."""

from __future__ import annotations

from core.events.kinds import EventKind

KINDS = (EventKind("media.uploaded", "File uploaded", "media.view"),)
