"""What the database role of agents may do with notifications: nothing. Other processes make them from events."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden

RIGHTS: Final = hidden(
    "proofroom_notifications.Notification", "proofroom_notifications.NotificationChoice"
)
