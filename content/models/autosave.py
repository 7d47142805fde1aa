"""Unsaved input of the post form. It belongs to no layer, and only its author can see it."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from content.models.draft import Layer
from content.models.editing_mark import SOURCE
from content.models.post import Post


class Autosave(models.Model):
    """A private copy of one open form. The page chooses `id`. `post` is null for a post that is not created yet."""

    id = models.UUIDField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    post = models.ForeignKey(Post, null=True, on_delete=models.CASCADE, related_name="+")
    layer = models.CharField(
        max_length=10, choices=[(SOURCE, SOURCE), (Layer.REVIEW, Layer.REVIEW)], default=SOURCE
    )
    entries = models.JSONField()
    saved_at = models.DateTimeField(db_index=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["user", "post", "-saved_at"], name="autosave_of_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} at {self.post_id}"
