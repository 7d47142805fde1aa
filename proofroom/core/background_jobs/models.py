"""The row of a background job: who started it, its progress and its result."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models


class JobState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class BackgroundJob(models.Model):
    """Work that a user started. Subclasses add their input and a partial index on `touched_at` for the sweep.

    `why` is the reason of its end, in `language`. `attempts` is the number of times workers started it since its last
    progress.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.RUNNING)
    why = models.TextField(blank=True, default="")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, default="")
    language = models.CharField(max_length=20, blank=True, default="", db_default="")
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    touched_at = models.DateTimeField(auto_now=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_running(self) -> bool:
        return self.state == JobState.RUNNING
