"""Personal data of notifications."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention

KINDS: Final = (
    TableKind(
        "notifications",
        gettext_lazy("Notifications and their settings"),
        Table(
            "proofroom_notifications.Notification",
            ("kind", "created_at", "read_at"),
            owners=("user",),
        ),
        Table("proofroom_notifications.NotificationChoice", ("kind", "channel"), owners=("user",)),
        erasure=Erasure.DELETED,
    ),
)
RETENTIONS: Final = (
    Retention(
        "notifications",
        gettext_lazy("Notifications"),
        setting="NOTIFICATION_DAYS",
        task_name="notifications.tasks.purge",
    ),
)
