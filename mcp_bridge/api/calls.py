"""`/api/mcp-calls`: the log of tool calls over MCP."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from mcp_bridge import call_log
from proofroom.core.api.answer import Answer, TextOrNull, list_of
from proofroom.core.api.body import Body, Moment, Words
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import BooleanText, parse_boolean, read_query
from proofroom.core.api.schema import PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.database.row_counts import count_rows

MOMENT: Final = {"type": "string", "format": "date-time"}
CALL_PARAMETERS: Final = [
    query_parameter("tool", "Calls of a tool."),
    query_parameter(
        "principal", "Calls with a credential: token, header, local or client:<id of a token>."
    ),
    query_parameter("ok", "Calls that succeeded, or that failed.", choice_schema("true", "false")),
    query_parameter("code", "Calls that were refused for this reason."),
    query_parameter("agentId", "Calls in the name of an agent."),
    query_parameter("since", "Calls from this time on.", MOMENT),
    query_parameter("until", "Calls before this time.", MOMENT),
    *PAGES,
]


class CallQuery(Body):
    """The filter of the call log."""

    tool: Words | None = Field(None, max_length=128)
    principal: Words | None = Field(None, max_length=100)
    ok: BooleanText | None = None
    code: Words | None = Field(None, max_length=60)
    agent_id: Words | None = Field(None, max_length=100)
    since: Moment | None = None
    until: Moment | None = None


class CallerAnswer(Answer):
    """The account of the call."""

    id: int = Field(ge=1)
    username: str


class McpCallAnswer(Answer):
    """One tool call. Arguments and answer are not stored, only their lengths."""

    id: int = Field(ge=1)
    tool: str
    principal: str
    caller: str = Field(
        description="The name of the token that made the call, if any.",
        validation_alias="caller_name",
    )
    user: CallerAnswer | None
    agent_id: TextOrNull
    ok: bool
    code: TextOrNull = Field(description="Why the call was refused.", validation_alias="error_code")
    ms: int = Field(ge=0)
    request_bytes: int = Field(ge=0)
    response_bytes: int = Field(ge=0)
    created_at: datetime


class McpCallViewSet(ApiViewSet):
    """The log of calls of tools over MCP."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "settings.manage"}

    @extend_schema(
        parameters=CALL_PARAMETERS, responses=list_of(McpCallAnswer, "Calls, latest first.")
    )
    def list(self, request: Request) -> Response:
        """Calls, latest first, of the last 90 days. `total` counts to 10,000; use `until` for stable pages."""
        page, query = page_of(request), read_query(request, CallQuery)
        found = call_log.calls(**{**query.model_dump(), "ok": parse_boolean(query.ok)})
        rows = call_log.with_caller_names(found[page.slice])
        answers = [McpCallAnswer.model_validate(row) for row in rows]
        return Response(page.envelope(answers, count_rows(found)))
