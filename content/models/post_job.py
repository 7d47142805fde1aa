"""Bulk actions on posts, carried out by a worker: the request, the progress and the outcome per post."""

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
    EDIT = "edit"


class JobOutcome(models.TextChoices):
    WAITING = "waiting"
    DONE = "done"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    UNDONE = "undone"
    KEPT = "kept"


class PostJob(BackgroundJob):
    """One bulk action. `is_undo`: the action is being undone, or was.

    `total` and `done` count the posts in the current direction. `title`: for a copy, the title of the copied page.
    `edit`: for a bulk edit, the changes to make in each post.
    """

    kind = models.CharField(max_length=10, choices=JobKind.choices)
    is_undo = models.BooleanField(default=False)
    title = models.CharField(max_length=300, blank=True, default="")
    edit = models.JSONField(null=True)
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
    """One post of a job, in order.

    `made`: id of the copy of the post. `version`: the post's version after the job. `before`: its state before.
    """

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
