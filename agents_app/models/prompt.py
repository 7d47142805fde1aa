"""Versions of agents' prompts, kept once for each text."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proofroom.core.definition_files import ID_MAX

DIGEST_LENGTH = 12


class PromptVersion(models.Model):
    """An agent's instructions as they were for some of its runs, with what the system adds to every agent's.

    Files change and are no rows: this is what remains of them. Never changed, and made with the first run.
    """

    digest = models.CharField(max_length=DIGEST_LENGTH, primary_key=True)
    agent_id = models.CharField(max_length=ID_MAX)
    instructions = models.TextField()
    rules = models.TextField()
    tools = models.JSONField(
        default=list, help_text="Names of the tools that its file lets it use."
    )
    options = models.JSONField(default=dict, help_text="What its file says of answers.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["agent_id", "-created_at"], name="prompt_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.digest}"
