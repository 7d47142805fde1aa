"""Notifications: what happened that concerns a person, one unread row for each thing."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

MAX_SUBJECTS: Final = 20
"""Things that one row names; more are only counted."""


class Notification(models.Model):
    """`subjects` are ids of the things that it is about, the latest first, `count` how many there are at least.

    It holds no words: those are read where it is shown, of what is still there. While it is unread, what happens of
    the same `group` is added to it; `event_id` is the last event that was. `is_seen` says that its person saw it in
    the list, whether they opened it or not: the bell counts what they did not see. `mailed_event_id` is the last
    event that a mail told of, 0 for none.
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
    """Where notifications of a kind go."""

    OFF = "off", gettext_lazy("Off")
    ADMIN = "admin", gettext_lazy("In the admin")
    MAIL = "mail", gettext_lazy("In the admin and by email")


class NotificationChoice(models.Model):
    """What somebody chose for a kind of notifications. Without a row it is `Channel.ADMIN`."""

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
