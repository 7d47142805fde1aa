"""What is recorded of the log itself."""

from __future__ import annotations

from core.events.kinds import EventKind

KINDS = (EventKind("activity.exported", "Activity log exported", "settings.manage"),)
