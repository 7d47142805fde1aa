"""Calls of the real tools as one role, with their expected results."""

from __future__ import annotations

from typing import Any

from content.models import Draft, Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from tests import make


def by(role: str) -> Principal:
    """Return a credential bound to an account of that role."""
    return Principal(id=f"client:{role}", user_id=make.user(role).pk)


def done(tool: str, principal: Principal | None = None, **arguments: Any) -> dict[str, Any]:
    result = call_tool(principal or by("ai_agent"), tool, arguments)
    assert result.is_error is False, result_text(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def refused(tool: str, principal: Principal | None = None, **arguments: Any) -> tuple[str, str]:
    """Return code and text of a refusal, and check that nothing changed."""
    before, drafts = make.live_hash(), list(Draft.objects.order_by("pk").values())
    posts = Post.objects.count()
    result = call_tool(principal or by("ai_agent"), tool, arguments)
    assert result.is_error is True, result.structured_content
    assert (make.live_hash(), Post.objects.count()) == (before, posts)
    assert list(Draft.objects.order_by("pk").values()) == drafts
    assert result.meta is not None
    return result.meta["cms/error"]["code"], result_text(result)
