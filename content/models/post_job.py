"""Steps with many posts that a worker takes: what was asked for, how far it is, and what came of each post."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proofroom.core.background_jobs.models import BackgroundJob


class JobKind(models.TextChoices):
    COPY = "copy"
    PUBLISH = "publish"
    UNPUBLISH = "unpublish"
    ARCHIVE = "archive"
    DELETE = "delete"


class JobOutcome(models.TextChoices):
    WAITING = "waiting"
    DONE = "done"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    UNDONE = "undone"
    KEPT = "kept"


class PostJob(BackgroundJob):
    """One step with many posts. `is_undo`: what was done is being taken back, or was.

    `total` and `done` count the posts of the direction that it goes. `title` is that of the page whose copy it is.
    """

    kind = models.CharField(max_length=10, choices=JobKind.choices)
    is_undo = models.BooleanField(default=False)
    title = models.CharField(max_length=300, blank=True, default="")
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "background job"
        verbose_name_plural = "background jobs"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="post_job_latest"),
            models.Index(
                fields=["touched_at"],
                name="post_job_running",
                condition=models.Q(state="running"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.title or self.total}"


class PostJobItem(models.Model):
    """A post of a job, in its order. `made` is the copy that was made of it; `version` the one that it was left with;
    `before` says what it was."""

    job = models.ForeignKey(PostJob, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    post = models.UUIDField()
    made = models.UUIDField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    before = models.JSONField(default=dict, blank=True)
    outcome = models.CharField(
        max_length=10, choices=JobOutcome.choices, default=JobOutcome.WAITING
    )
    why = models.TextField(blank=True, default="")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["job", "position"], name="post_job_item_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["job", "outcome", "position"], name="post_job_item_next"),
            models.Index(fields=["job", "post"], name="post_job_item_post"),
        ]

    def __str__(self) -> str:
        return f"{self.post}: {self.outcome}"
