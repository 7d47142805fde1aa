"""Kinds of events recorded by core."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("events.told-again", "Failed events retried", "settings.manage"),
    EventKind("activity.exported", "Activity log exported", "settings.manage"),
    EventKind("activity.pruned", "Oldest entries of the activity log deleted", "settings.manage"),
    EventKind("activity.pseudonymised", "Names removed from the activity log", "settings.manage"),
    EventKind("list-view.changed", "List view changed", "settings.manage"),
)
