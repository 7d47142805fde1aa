"""Preview links: temporary read access to one layer of one post."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models

from content.models.post import Post

PREVIEW_LAYERS = [("source", "Live"), ("review", "Review"), ("ai-review", "AI Review")]


class TemporaryLink(models.Model):
    """A link that works until `expires_at`. Only a hash of the token in its address is stored."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    views = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class PreviewLink(TemporaryLink):
    """A link to one layer of one post."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="preview_links")
    layer = models.CharField(max_length=10, choices=PREVIEW_LAYERS)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "-created_at"], name="preview_of_post"),
            models.Index(fields=["expires_at"], name="preview_expires"),
        ]

    def __str__(self) -> str:
        return f"{self.layer} of {self.post_id} until {self.expires_at:%Y-%m-%d %H:%M}"
