"""What migrations of a site made of stored content, see `content.migration_operations`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class ContentMigration(models.Model):
    """One change of everything stored of a type of module or post.

    `changed` says how many rows of each kind, `post_ids` whose. `followed_at` is when search, references and inbox
    followed; null until then.
    """

    type = models.CharField(max_length=80)
    post_ids = models.JSONField(default=list)
    changed = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    followed_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return f"{self.type} {self.created_at:%Y-%m-%d}"
