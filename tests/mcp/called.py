"""Calls for the log, as if made by clients."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from mcp_bridge.access.tokens import create_token
from mcp_bridge.models import McpCall, McpToken
from tests import make


def called(
    tool: str = "list_posts", *, hours: float = 0, days: float = 0, **values: Any
) -> McpCall:
    """Create a log entry of that age."""
    code = values.pop("code", "")
    call = McpCall.objects.create(
        tool=tool,
        **{
            "principal": "token",
            "ms": 12,
            "ok": not code,
            "error_code": code,
            "request_bytes": 20,
            "response_bytes": 2048,
            **values,
        },
    )
    McpCall.objects.filter(pk=call.pk).update(created_at=ago(hours=hours, days=days))
    return call


def ago(**length: float) -> datetime:
    return timezone.now() - timedelta(**length)


def token(name: str = "Laptop") -> McpToken:
    return create_token(name=name, user_id=make.user("editor").pk, actor=make.actor("admin"))[0]
