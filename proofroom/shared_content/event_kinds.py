"""Event types of changes that wait for approval."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("shared.proposed", "Change to shared content sent for approval", "posts.view"),
    EventKind("shared.approved", "Change to shared content approved", "posts.view"),
    EventKind("shared.rejected", "Change to shared content rejected", "posts.view"),
    EventKind("shared.withdrawn", "Change to shared content withdrawn", "posts.view"),
    EventKind("shared.rule-changed", "Approval of shared content changed", "settings.manage"),
)
