"""Notifications: events that concern a user, at most one unread row for each subject group."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

MAX_SUBJECTS: Final = 20
"""Largest number of subjects stored in a row. Further ones are only counted."""


class Notification(models.Model):
    """A notification.

    Texts are not stored: they are made from current content when it is shown. While the row is unread, further events
    of the same `group` are added to it. `subjects`: ids of its subjects, the latest first. `count`: number of
    subjects, at least. `event_id`: the last event added. `is_seen`: the user saw it in the list; the bell counts the
    others. `mailed_event_id`: the last event that was mailed, 0 for none. `waiting_since`: time of the first event
    after it.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications"
    )
    kind = models.CharField(max_length=40)
    group = models.CharField(max_length=100)
    subjects = models.JSONField(default=list)
    count = models.PositiveIntegerField(default=1)
    event_id = models.BigIntegerField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_index=True)
    mailed_event_id = models.BigIntegerField(default=0)
    waiting_since = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    is_seen = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["user", "kind", "group"],
                condition=Q(read_at__isnull=True),
                name="notification_unread_once",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["user", "-updated_at"], name="notification_latest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.group} for {self.user_id}"


class Channel(models.TextChoices):
    """The channel of notifications of a kind."""

    OFF = "off", gettext_lazy("Off")
    ADMIN = "admin", gettext_lazy("In the admin")
    DIGEST = "daily", gettext_lazy("In the admin and in a daily email")
    MAIL = "mail", gettext_lazy("In the admin and by email at once")


MAILED: Final = (Channel.DIGEST, Channel.MAIL)
"""Channels with email."""


class NotificationChoice(models.Model):
    """A user's channel for a kind of notifications. Without a row it is the kind's `default_channel`."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notification_choices"
    )
    kind = models.CharField(max_length=40)
    channel = models.CharField(max_length=5, choices=Channel)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "kind"], name="notification_choice_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}: {self.channel}"
