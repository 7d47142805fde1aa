"""Media: files with their description."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models


class Asset(models.Model):
    """A stored file. `file` and `variants` are paths in the media storage; `filename` is the original name."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    filename = models.CharField(max_length=255)
    file = models.FileField(max_length=300)
    size = models.PositiveBigIntegerField()
    mime = models.CharField(max_length=100)
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    variants = models.JSONField(default=dict, blank=True)
    alt_text = models.CharField(max_length=500, blank=True, default="")
    categories = models.JSONField(default=list, blank=True)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "file"
        verbose_name_plural = "media"
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return self.filename
