"""Results of a find and replace by place, stored for undo."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proofroom.core.background_jobs.models import BackgroundJob, JobState


class Replacement(BackgroundJob):
    """One run of find and replace. `counts`: number of places by table.

    `layer`: "review" if the texts were proposed in Review, empty if they are live. `planned`: number of rows at the
    start. `pending`: rows still to do. `missed`: number of hits that no longer existed.
    """

    find = models.TextField()
    replace = models.TextField(blank=True)
    case_sensitive = models.BooleanField(default=True)
    whole_words = models.BooleanField(default=False)
    tables = models.JSONField(default=list)
    counts = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    layer = models.CharField(max_length=10, blank=True, default="")
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.DONE)
    planned = models.PositiveIntegerField(default=0)
    pending = models.JSONField(default=list)
    missed = models.PositiveIntegerField(default=0)
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
    def done(self) -> int:
        """Number of planned rows that are done."""
        return self.planned - len(self.pending)


class ReplacedPlace(models.Model):
    """A replaced text: its place, and the values before and after."""

    replacement = models.ForeignKey(Replacement, on_delete=models.CASCADE, related_name="places")
    table = models.CharField(max_length=40)
    row = models.CharField(max_length=80)
    field = models.TextField()
    before = models.JSONField()
    after = models.JSONField()

    def __str__(self) -> str:
        return f"{self.table} {self.row} {self.field}"
