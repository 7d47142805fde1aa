"""Drafts: one row per post and layer above live content."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from content.models.post import Post
from content.models.revision import Revision


class Layer(models.TextChoices):
    REVIEW = "review"
    AI_REVIEW = "ai-review"


class Draft(models.Model):
    """The proposal in one layer: `document` against `base`, the document of the layer below at the time of writing.

    `marks`: the author of each path (`content.store.layer_state.Attribution`). `version` grows with every write and
    is never reset, so that every stale write is detected. A draft without staged changes keeps its row.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="drafts")
    layer = models.CharField(max_length=10, choices=Layer.choices)
    is_empty = models.BooleanField(default=True)
    base = models.JSONField(null=True)
    document = models.JSONField(null=True)
    base_revision = models.ForeignKey(
        Revision, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    marks = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "layer"], name="draft_one_per_layer"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["layer", "updated_at"],
                name="draft_waiting",
                condition=models.Q(is_empty=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.layer} of {self.post_id}"
