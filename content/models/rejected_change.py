"""Rejected changes, stored for a limited time so that they can be restored."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar, Final

from django.db import models

from content.models.draft import Layer
from content.models.post import Post

KEPT: Final = timedelta(days=30)
"""Period in which a rejected change can be restored and is shown on new proposals."""


class RejectedChange(models.Model):
    """One change of one rejection. `rejection`: id of the event, which has the reviewer, the time and the reason.

    `seen`: the change in a reviewer's digest. `proposal`: the proposed value and its author
    (`content.layers.rejected_changes`), null if it was too large or was restored. `agent_id`, `principal`: the
    proposer, also if it is null.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="rejected")
    rejection = models.BigIntegerField()
    layer = models.CharField(max_length=10, choices=Layer.choices)
    path = models.CharField(max_length=300)
    seen = models.CharField(max_length=32)
    proposal = models.JSONField(null=True)
    agent_id = models.CharField(max_length=80, blank=True, default="", db_default="")
    principal = models.CharField(max_length=100, blank=True, default="", db_default="")
    taken_back_at = models.DateTimeField(null=True)
    taken_back_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["rejection", "path"], name="rejected_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["principal", "-created_at"], name="rejected_of_principal"),
        ]

    def __str__(self) -> str:
        return f"{self.path} in {self.layer} of {self.post_id}"

    @property
    def is_kept(self) -> bool:
        return self.proposal is not None
