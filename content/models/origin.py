"""The origin of a copy: the source's values behind a translation, the source's modules behind any copy."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models

from content.models.post import Post


class CopyOrigin(models.Model):
    """Of one translation or variation; its source is `translated_from` or `variation_of` of the post.

    `modules` maps each module of the source that is known here to its copy, null for one that the copy does
    without. `hashes` has, per path of a translation, that of the source's value that it was made from.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="origin")
    modules = models.JSONField(default=dict)
    hashes = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name: ClassVar[str] = "origin of a copy"

    def __str__(self) -> str:
        return f"origin of {self.post_id}"
