"""Revisions of shared content, approval rules, and proposals."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy


class SharedRevision(models.Model):
    """A complete version of a row.

    `kind`: name of a `SharedKind`. `row_id`: id of its row. `document`: the kind's document of the row. `reason`:
    before, created, edited, moved, reverted, find-replace or approved. "before" is the state found by the first
    recorded change: its author is unknown, and `created_at` may be.
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
    approved_by_name = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(null=True, default=timezone.now)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["kind", "row_id", "version"], name="shared_revision_once_per_version"
            ),
        ]
        ordering: ClassVar[list[str]] = ["-version"]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id} v{self.version} ({self.reason})"


class ApprovalMode(models.TextChoices):
    """The rule for which changes of a kind need approval, see `proofroom.shared_content.approval`."""

    OFF = "off", gettext_lazy("Changes go live immediately")
    EDITORS = "editors", gettext_lazy("Administrators approve changes by editors")
    EVERYONE = "everyone", gettext_lazy("A second person approves every change")


class ApprovalRule(models.Model):
    """The approval mode of a kind. A kind without a row is off."""

    kind = models.CharField(max_length=20, primary_key=True)
    mode = models.CharField(max_length=10, choices=ApprovalMode.choices, default=ApprovalMode.OFF)

    def __str__(self) -> str:
        return f"{self.kind}: {self.mode}"


class ProposalState(models.TextChoices):
    WAITING = "waiting", gettext_lazy("Waiting for approval")
    APPROVED = "approved", gettext_lazy("Approved")
    REJECTED = "rejected", gettext_lazy("Rejected")
    WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")


class SharedProposal(models.Model):
    """A change of a row that waits for approval or was decided. A row has at most one waiting change.

    `document`: the proposed content. `base`: the row's content at `base_version`, when the change was written.
    `title`: title of the row for lists. `writers`: ids of all its authors. `by`: the last author.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    kind = models.CharField(max_length=20)
    row_id = models.UUIDField()
    title = models.CharField(max_length=300)
    base_version = models.PositiveIntegerField()
    base = models.JSONField()
    document = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    writers = models.JSONField(default=list)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150)
    state = models.CharField(
        max_length=10, choices=ProposalState.choices, default=ProposalState.WAITING
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")
    note = models.CharField(max_length=1000, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["kind", "row_id"],
                condition=models.Q(state="waiting"),
                name="shared_proposal_waits_once",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["state", "updated_at"], name="shared_proposal_state"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.title} ({self.state})"
