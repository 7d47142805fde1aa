"""Calls of the diagnostics tools by credentials with or without the grant."""

from __future__ import annotations

from typing import Any, Final

from jsonschema import Draft202012Validator

from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.tools import get_tool
from proofroom.core.tools.schemas import result_schema
from tests import make

TOOLS: Final = (
    "read_server_logs",
    "run_ace_command",
    "simulate_webhook_event",
    "tail_activity_logs",
    "test_local_route",
    "trace_url_resolution",
    "validate_mcp_payload",
)


def granted(role: str = "ai_agent") -> Principal:
    return Principal(id=f"granted-{role}", user_id=make.user(role).pk, diagnostics=True)


def told(tool: str, role: str = "ai_agent", **arguments: Any) -> dict[str, Any]:
    """Return the answer for an account of that role, after checking it against the output schema."""
    result = call_tool(granted(role), tool, arguments)
    assert not result.is_error, result.content[0].text
    answer: dict[str, Any] = result.structured_content
    found = get_tool(tool)
    if found is not None and found.result is not None:
        Draft202012Validator(result_schema(found.result)).validate(answer)
    return answer


def refusal(tool: str, **arguments: Any) -> tuple[str, str]:
    """Return the code and text of a refusal."""
    result = call_tool(granted(), tool, arguments)
    assert result.is_error, result.structured_content
    return result.meta["cms/error"]["code"], result.content[0].text
