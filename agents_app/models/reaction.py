"""Reactions to runs, and chains of runs that were stopped."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from agents_app.models.run import AgentRun
from proofroom.webhooks.models import Delivery


class ReactionStatus(models.TextChoices):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class RunReaction(models.Model):
    """One reaction of an agent to one of its runs; `number` is its place in the definition.

    Calls to other systems are deliveries, which have their attempts and retries; a call of a tool is tried by
    the row itself: `claimed_until` holds it, `next_attempt_at` is empty when it is finished.
    """

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="reactions")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(
        max_length=10,
        choices=[("webhook", "webhook"), ("chat", "chat"), ("mcp_tool", "mcp_tool")],
    )
    trigger = models.CharField(max_length=12, default="always")
    target = models.CharField(max_length=200, help_text="A host, or the name of a tool.")
    delivery = models.ForeignKey(Delivery, null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(
        max_length=10, choices=ReactionStatus.choices, default=ReactionStatus.PENDING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=1000, blank=True, default="")
    summary = models.CharField(max_length=1000, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="reaction_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["next_attempt_at"],
                name="reaction_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} #{self.number} {self.kind}"


class StoppedChain(models.Model):
    """A chain of runs that was stopped at the hop limit. `root` is what began it: people are told of it once."""

    root = models.CharField(max_length=60, primary_key=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.root
