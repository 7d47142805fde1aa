"""Results of a find-and-replace, place by place, so that it can be undone."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models


class ReplacementState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Replacement(models.Model):
    """One run of find and replace. `counts` are the places by table.

    `layer` is "review" where the texts were proposed in Review, else empty: they are live. `pending` is what a run
    has still to do, row by row, `planned` how many rows it began with; `missed` counts the hits that were not there
    any more, and `why` says what stopped it.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    find = models.TextField()
    replace = models.TextField(blank=True)
    case_sensitive = models.BooleanField(default=True)
    tables = models.JSONField(default=list)
    counts = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, default="")
    layer = models.CharField(max_length=10, blank=True, default="")
    state = models.CharField(
        max_length=10, choices=ReplacementState.choices, default=ReplacementState.DONE
    )
    planned = models.PositiveIntegerField(default=0)
    pending = models.JSONField(default=list)
    missed = models.PositiveIntegerField(default=0)
    why = models.TextField(blank=True, default="")
    touched_at = models.DateTimeField(auto_now=True)
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="replacement_latest"),
            models.Index(
                fields=["touched_at"],
                name="replacement_running",
                condition=models.Q(state="running"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.find[:40]} → {self.replace[:40]}"

    @property
    def is_running(self) -> bool:
        return self.state == ReplacementState.RUNNING

    @property
    def done(self) -> int:
        """How many of the planned rows are done."""
        return self.planned - len(self.pending)


class ReplacedPlace(models.Model):
    """A text that was replaced: where it stands, and the values before and after."""

    replacement = models.ForeignKey(Replacement, on_delete=models.CASCADE, related_name="places")
    table = models.CharField(max_length=40)
    row = models.CharField(max_length=80)
    field = models.TextField()
    before = models.JSONField()
    after = models.JSONField()

    def __str__(self) -> str:
        return f"{self.table} {self.row} {self.field}"
