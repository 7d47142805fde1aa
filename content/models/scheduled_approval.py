"""Staged changes of posts that were approved for a time."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q

from content.models.post import Post


class ScheduledApproval(models.Model):
    """An approval of changes in Review that takes effect at a time. The row is deleted with its approval.

    - `paths`: what goes live, `<path>` or `<path>#<passage>`, as in an approval. Never empty.
    - `digest`: digest of these changes, as the reviewer saw them.
    - `by`: the reviewer, whose rights count at that time. Null after the account was deleted.
    - `failed_at`, `reason`: the changes could not go live. Such a row is not tried again.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="scheduled_approvals")
    at = models.DateTimeField()
    paths = models.JSONField()
    digest = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True, default="")

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["at"], name="approval_due", condition=Q(failed_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"changes of {self.post_id} at {self.at:%Y-%m-%d %H:%M}"
