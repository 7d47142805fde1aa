"""One agent on many posts."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q

from proofroom.core.definition_files import ID_MAX


class AgentBatch(models.Model):
    """The runs of one bulk request. How far it is, its runs say.

    Taking it back is work for a task: who asked for it, when, and what came of it by run (`reverted`: paths, or the
    `error`). It is done when `reverted_at` is set.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    agent_id = models.CharField(max_length=ID_MAX)
    open_ended_context = models.TextField(blank=True, default="")
    rejected = models.JSONField(default=list, help_text="Posts that got no run: {id, error}.")
    estimate = models.JSONField(default=dict, help_text="What it was expected to use.")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled_at = models.DateTimeField(null=True)
    revert_asked_at = models.DateTimeField(null=True)
    reverted_at = models.DateTimeField(null=True)
    revert_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    revert_via = models.CharField(max_length=10, blank=True, default="")
    reverted = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "agent batches"
        ordering: ClassVar[list[str]] = ["-created_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="batch_latest"),
            models.Index(
                fields=["revert_asked_at"],
                name="batch_reverting",
                condition=Q(revert_asked_at__isnull=False, reverted_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.pk}"
