"""Credentials of AI clients, the log of their calls, and the processes that serve them.

Arguments of calls and secrets are never stored.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from proofroom.accounts.models import AccountToken


class McpToken(AccountToken):
    """The token of one AI client for the MCP server.

    An empty list of `tools` allows all that the account may use. `diagnostics` grants the
    diagnostics tools for any account. `tool_set` is "all" or "core": what `tools/list` answers.
    Without `starts_agents` it starts none, because an agent proposes changes for the client even if
    none of its `tools` does.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mcp_tokens"
    )
    tools = models.JSONField(default=list)
    diagnostics = models.BooleanField(default=False)
    starts_agents = models.BooleanField(default=True, db_default=True)
    tool_set = models.CharField(max_length=10, default="all", db_default="all")

    class Meta:
        verbose_name = "MCP token"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "-id"], name="mcp_token_newest")
        ]


class McpCall(models.Model):
    """One call of a tool through the MCP server."""

    tool = models.CharField(max_length=128)
    principal = models.CharField(max_length=100, help_text="The credential that made the call.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="mcp_calls",
    )
    agent_id = models.CharField(max_length=100, blank=True, default="")
    ms = models.PositiveIntegerField()
    ok = models.BooleanField()
    error_code = models.CharField(max_length=60, blank=True, default="")
    request_bytes = models.PositiveIntegerField()
    response_bytes = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    caller_name: str
    """The name of the credential, set by `call_log.with_caller_names`."""

    class Meta:
        verbose_name = "MCP call"
        verbose_name_plural = "MCP calls"
        ordering = ("-created_at", "-pk")
        indexes = (models.Index(fields=("tool", "-created_at"), name="mcp_call_by_tool"),)

    def __str__(self) -> str:
        return f"{self.tool} by {self.principal}: {'ok' if self.ok else self.error_code}"


class McpProcess(models.Model):
    """A running process of the MCP server: its address for other processes, and its last report."""

    key = models.CharField(max_length=8, primary_key=True)
    address = models.CharField(max_length=60)
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "MCP process"
        verbose_name_plural = "MCP processes"

    def __str__(self) -> str:
        return self.address
