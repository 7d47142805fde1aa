"""`/api/mcp-calls`: what AI clients called, and how it ended."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core import long_lists
from core.api.body import Body, Moment, Words
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.query import YesOrNo, is_yes, read_query
from core.api.views import ApiViewSet
from core.json import JsonObject
from mcp_bridge import call_log
from mcp_bridge.api import call_schema as schema
from mcp_bridge.models import McpCall


class CallQuery(Body):
    """Which calls are asked for."""

    tool: Words | None = Field(None, max_length=128)
    principal: Words | None = Field(None, max_length=100)
    ok: YesOrNo | None = None
    code: Words | None = Field(None, max_length=60)
    agent_id: Words | None = Field(None, max_length=100)
    since: Moment | None = None
    until: Moment | None = None


class McpCallViewSet(ApiViewSet):
    """The log of calls of tools over MCP."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "settings.manage"}

    @extend_schema(parameters=schema.CALL_PARAMETERS, responses=schema.McpCallListSchema)
    def list(self, request: Request) -> Response:
        """Calls, latest first, of the last 90 days. `total` counts to 10,000; `until` keeps pages still."""
        page, asked = page_of(request), read_query(request, CallQuery)
        wanted = {**asked.model_dump(), "ok": is_yes(asked.ok)}
        found = call_log.calls(**wanted)
        rows = list(found[page.slice])
        names = call_log.names_of(row.principal for row in rows)
        shown = [presented(row, names[row.principal]) for row in rows]
        return Response(page.envelope(shown, long_lists.count(found)))


def presented(row: McpCall, caller: str) -> JsonObject:
    """A call as the API answers it."""
    user: JsonObject | None = None
    if row.user is not None:
        user = {"id": row.user.pk, "username": row.user.username}
    return {
        "id": row.pk,
        "tool": row.tool,
        "principal": row.principal,
        "caller": caller,
        "user": user,
        "agentId": row.agent_id or None,
        "ok": row.ok,
        "code": row.error_code or None,
        "ms": row.ms,
        "requestBytes": row.request_bytes,
        "responseBytes": row.response_bytes,
        "createdAt": row.created_at,  # type: ignore[dict-item]  # the renderer writes it
    }
