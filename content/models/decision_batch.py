"""Decisions on many waiting changes, which a task carries out post by post."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from content.models.draft import Layer
from content.models.post import Post
from proofroom.core.background_jobs.models import BackgroundJob


class BatchState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    STOPPED = "stopped"


class DecisionOutcome(models.TextChoices):
    """The outcome for one change. All except the first are final."""

    WAITING = "waiting"
    TAKEN = "taken"
    REJECTED = "rejected"
    GONE = "gone"
    MOVED = "moved"
    HELD = "held"
    REFUSED = "refused"


class DecisionBatch(BackgroundJob):
    """The decisions of one reviewer on many changes. The items hold the progress.

    `gone`: number of changes that no longer waited at the start.
    """

    note = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=BatchState.choices, default=BatchState.RUNNING)
    gone = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "decision batches"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["by", "-created_at"], name="decisions_of_one"),
            models.Index(fields=["-created_at"], name="decisions_latest"),
            models.Index(
                fields=["touched_at"],
                name="decisions_going_on",
                condition=models.Q(state="running"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.by_name} {self.pk}"


class DecisionItem(models.Model):
    """One change of a batch as the reviewer saw it, the decision, and the outcome.

    `post` is null after the post is deleted permanently. `subject` and `kind` are copied from the queue. `word`:
    the decision. `why`: the reason of a refusal.
    """

    batch = models.ForeignKey(DecisionBatch, on_delete=models.CASCADE, related_name="items")
    post = models.ForeignKey(Post, null=True, on_delete=models.SET_NULL, related_name="+")
    layer = models.CharField(max_length=10, choices=Layer.choices)
    path = models.CharField(max_length=300)
    subject = models.CharField(max_length=200)
    kind = models.CharField(max_length=10)
    seen = models.CharField(max_length=32)
    word = models.CharField(max_length=10)
    outcome = models.CharField(
        max_length=10, choices=DecisionOutcome.choices, default=DecisionOutcome.WAITING
    )
    why = models.TextField(blank=True, default="")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["batch", "post", "layer", "path"], name="decided_once_in_a_batch"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["batch", "outcome", "id"], name="decisions_by_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.word} {self.path} of {self.post_id}"
