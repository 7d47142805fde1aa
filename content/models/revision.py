"""Revisions: what a post's live content was, whole, each time it changed."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models

from content.models.post import Post


class Revision(models.Model):
    """The live document at one version of the post.

    `reason` says what made it: before, created, edited, approved, reverted.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    reason = models.CharField(max_length=40)
    document = models.JSONField()
    changed_paths = models.JSONField(default=list)
    note = models.TextField(blank=True, default="")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, default="")
    agent_id = models.CharField(max_length=80, blank=True, default="")
    run_id = models.CharField(max_length=40, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "version"], name="revision_once_per_version"),
        ]
        ordering: ClassVar[list[str]] = ["-version"]

    def __str__(self) -> str:
        return f"{self.post_id} v{self.version} ({self.reason})"
