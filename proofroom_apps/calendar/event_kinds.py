"""Kinds of events of the calendar."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

KINDS: Final = (EventKind("calendar.feed-renewed", "Calendar address renewed", "users.manage"),)
