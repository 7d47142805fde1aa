"""Revisions: the complete live content after each change, and the author of each path."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models

from content.models.post import Post


class Revision(models.Model):
    """The live document at one version of the post.

    `reason`: the action: created, edited, approved, reverted, promoted or imported. `before`: saved because the
    version had no revision when it was overwritten.
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


class Provenance(models.Model):
    """The author and the approver of the value at a path, and the revision that published it. Immutable.

    Names are stored besides the accounts, so that they survive the deletion of an account. `edited_by_name`: a
    person who changed an agent's text before the approval. `principal`: the AI client's credential, without the
    secret.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="provenance")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="provenance")
    path = models.CharField(max_length=300)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    author_name = models.CharField(max_length=150)
    agent_id = models.CharField(max_length=80, blank=True, default="")
    run_id = models.CharField(max_length=40, blank=True, default="")
    via = models.CharField(max_length=10)
    principal = models.CharField(max_length=100, blank=True, default="")
    edited_by_name = models.CharField(max_length=150, blank=True, default="")
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    approved_by_name = models.CharField(max_length=150, blank=True, default="")
    written_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "path", "-id"], name="provenance_latest"),
            models.Index(fields=["run_id"], name="provenance_of_run"),
            models.Index(fields=["principal", "-created_at"], name="provenance_of_principal"),
        ]

    def __str__(self) -> str:
        return f"{self.path} by {self.agent_id or self.author_name}"
