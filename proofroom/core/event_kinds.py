"""Kinds of events recorded by core."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind
from proofroom.core.outbox.live_effects import site_effect

LIVE_CHANGED: Final = "live.changed"
"""Recorded after the changes themselves. Webhooks know it as `content.changed`."""
CONTENT_CHANGED: Final = "content.changed"
SITE_CHANGED: Final = "site.changed"

KINDS = (
    EventKind("events.told-again", "Failed events retried", "settings.manage"),
    EventKind("activity.exported", "Activity log exported", "settings.manage"),
    EventKind("activity.pruned", "Oldest entries of the activity log deleted", "settings.manage"),
    EventKind("activity.pseudonymised", "Names removed from the activity log", "settings.manage"),
    EventKind("list-view.changed", "List view changed", "settings.manage"),
    EventKind(
        LIVE_CHANGED,
        "Public content changed",
        "posts.view",
        is_webhook=True,
        webhook_name=CONTENT_CHANGED,
        is_internal=True,
    ),
    EventKind(
        SITE_CHANGED,
        "Pages updated",
        "settings.manage",
        is_live=True,
        effect=site_effect,
        is_internal=True,
    ),
)
