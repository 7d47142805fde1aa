"""The outbox: every event, written in the transaction of its cause."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Event(models.Model):
    """Something that happened. `dispatched_at` is set when every subscriber has been told.

    `cause` and `hop` are the cause chain: an event that a run caused, which another event started, and so on.
    """

    name = models.CharField(max_length=60)
    post_id = models.UUIDField(null=True, blank=True)
    payload = models.JSONField(default=dict)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    via = models.CharField(max_length=10)
    agent_id = models.CharField(max_length=80, blank=True)
    run_id = models.CharField(max_length=40, blank=True)
    cause = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    hop = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    dispatched_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["id"], name="event_waiting", condition=Q(dispatched_at__isnull=True)
            ),
            models.Index(fields=["post_id", "id"], name="event_of_post"),
        ]

    def __str__(self) -> str:
        return f"{self.name} #{self.pk}"


class ContentVersion(models.Model):
    """One row that grows with every change of live content; caches and ETags are keyed by it.

    `moved_at` grows with it, by a second at least: HTTP dates tell nothing finer apart.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.PositiveBigIntegerField(default=1)
    moved_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return str(self.number)
