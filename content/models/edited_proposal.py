"""Proposals of agents and AI clients that a person edited before deciding on them."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar, Final

from django.conf import settings
from django.db import models

from content.models.post import Post

EDITED_PROPOSALS_KEPT: Final = timedelta(days=365)
"""Period after which the record of an edited proposal is deleted."""


class EditedProposal(models.Model):
    """The value that an agent or AI client proposed at a path, and the one that a person accepted instead.

    Created at the first edit. Undecided while `decided_at` is null; then accepted if `rejection` is null.

    - `proposed`, `accepted`: values as `content.document.stored_values` encodes them, null if too large to store.
    - `proposed_at`: the time of the proposal. With the path, it tells one proposal from a later one.
    - `author`, `agent_id`, `run_id`, `via`, `principal`: the proposer, as in `Provenance`.
    - `edited_by`: the person who edited the value last. `decided_by`: the reviewer.
    - `is_changed`: the accepted value differs from the proposed one. False if it was edited back.
    - `rejection`: id of the event that rejected the edited value.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="edited_proposals")
    path = models.CharField(max_length=300)
    proposed = models.JSONField(null=True)
    accepted = models.JSONField(null=True)
    proposed_at = models.DateTimeField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    author_name = models.CharField(max_length=150)
    agent_id = models.CharField(max_length=80, blank=True, default="")
    run_id = models.CharField(max_length=40, blank=True, default="")
    via = models.CharField(max_length=10)
    principal = models.CharField(max_length=100, blank=True, default="")
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    edited_by_name = models.CharField(max_length=150)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    is_changed = models.BooleanField(default=True)
    rejection = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "path"], name="edited_at_path"),
            models.Index(fields=["principal", "-decided_at"], name="edited_of_principal"),
            models.Index(fields=["agent_id", "-decided_at"], name="edited_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.path} of {self.post_id}, proposed by {self.agent_id or self.author_name}"
