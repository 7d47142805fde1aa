"""Content that many pages show: what a global module, a menu or a term was, each time it changed."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models


class SharedRevision(models.Model):
    """One version of a row that many pages show, whole.

    `kind` is the name of a `SharedKind`, `row_id` the id of its row; `document` is what the kind makes of the row.
    `reason` says what made it: before, created, edited, moved, reverted, find-replace, approved.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    kind = models.CharField(max_length=20)
    row_id = models.UUIDField()
    version = models.PositiveIntegerField()
    document = models.JSONField()
    reason = models.CharField(max_length=40)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["kind", "row_id", "version"], name="shared_revision_once_per_version"
            ),
        ]
        ordering: ClassVar[list[str]] = ["-version"]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id} v{self.version} ({self.reason})"
