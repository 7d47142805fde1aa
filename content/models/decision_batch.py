"""Decisions on many waiting changes at once, which a task carries out post by post."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models

from content.models.draft import Layer
from content.models.post import Post


class BatchState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    STOPPED = "stopped"


class DecisionOutcome(models.TextChoices):
    """The outcome of one change. All but the first are final."""

    WAITING = "waiting"
    TAKEN = "taken"
    REJECTED = "rejected"
    GONE = "gone"
    MOVED = "moved"
    HELD = "held"
    REFUSED = "refused"


class DecisionBatch(models.Model):
    """The decisions of one person on many changes. How far it is, its items say.

    `gone` counts the changes that did not wait any more when it was made. `touched_at` is when a worker last did
    something; `why` says what stopped it, in `language`.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150)
    language = models.CharField(max_length=20)
    note = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=BatchState.choices, default=BatchState.RUNNING)
    why = models.TextField(blank=True, default="")
    gone = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

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

    @property
    def is_over(self) -> bool:
        return self.state != BatchState.RUNNING


class DecisionItem(models.Model):
    """One change of a batch as it was seen, the word on it, and what came of it; `why` where it was refused.

    `post` is null once the post is deleted for good. `subject` and `kind` are those of the change in the queue.
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
