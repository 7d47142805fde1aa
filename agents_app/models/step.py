"""Steps and messages of a run."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from agents_app.models.run import AgentRun


class RunStep(models.Model):
    """A step of a run: a question to the model or a call of a tool. Holds no content and no secret."""

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=[("model", "model"), ("tool", "tool")])
    name = models.CharField(max_length=120)
    ok = models.BooleanField()
    milliseconds = models.PositiveIntegerField()
    summary = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="step_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.kind} {self.name}"


class RunMessage(models.Model):
    """A message of a run, in order, without secrets and without the words of visitors.

    Kept for AGENT_TRANSCRIPT_DAYS.
    """

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="messages")
    number = models.PositiveSmallIntegerField()
    role = models.CharField(
        max_length=10,
        choices=[
            ("system", "system"),
            ("user", "user"),
            ("assistant", "assistant"),
            ("tool", "tool"),
        ],
    )
    name = models.CharField(max_length=120, blank=True, default="")
    text = models.TextField()
    is_cut = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="message_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.role}"
