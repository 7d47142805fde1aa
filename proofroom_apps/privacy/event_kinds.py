"""Kinds of events of personal data. None of them names the person."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("personal-data.searched", "Personal data searched", "privacy.manage"),
    EventKind("personal-data.exported", "Personal data exported", "privacy.manage"),
    EventKind("personal-data.downloaded", "Personal data downloaded", "privacy.manage"),
    EventKind("personal-data.erased", "Personal data erased", "privacy.manage"),
)
