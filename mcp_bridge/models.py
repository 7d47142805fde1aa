"""The credentials of AI clients, and the log of their calls. Never the arguments, never a secret itself."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone


class McpToken(models.Model):
    """What one AI client opens the MCP server with: bound to an account, with the tools it may call.

    `role` is what the account had when the token was made: with another role the token is dead. An empty list of
    `tools` means all that the account may use. `diagnostics` grants those tools, whatever the account.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=100)
    hash = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mcp_tokens"
    )
    role = models.CharField(max_length=20, editable=False)
    tools = models.JSONField(default=list)
    diagnostics = models.BooleanField(default=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "MCP token"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "-id"], name="mcp_token_newest")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """`revoked`, `expired` or `active`, whatever became of the account since."""
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= timezone.now()
        return "expired" if is_over else "active"


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

    class Meta:
        verbose_name = "MCP call"
        verbose_name_plural = "MCP calls"
        ordering = ("-created_at", "-pk")
        indexes = (models.Index(fields=("tool", "-created_at"), name="mcp_call_by_tool"),)

    def __str__(self) -> str:
        return f"{self.tool} by {self.principal}: {'ok' if self.ok else self.error_code}"
