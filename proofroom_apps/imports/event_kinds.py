"""Kinds of events of imports."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

KINDS: Final = (EventKind("content.imported", "Content imported", "posts.create"),)
