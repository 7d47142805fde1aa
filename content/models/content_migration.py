"""Records of site migrations that changed stored content, see `content.migration_operations`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class ContentMigration(models.Model):
    """One change of all stored content of a module type or post type.

    `changed`: number of rows by kind. `post_ids`: the posts of these rows. `followed_at`: time of the update of
    search, references and inbox, null before it.
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
