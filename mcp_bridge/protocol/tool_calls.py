"""One call of a tool, from the raw arguments to the protocol's result. Synchronous: runs on a
worker thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import mcp.types as wire
import orjson
from django.db import transaction

from mcp_bridge.access.principals import Principal, actor_for, require_use
from mcp_bridge.access.rate_limits import TooManyCalls, count_call
from mcp_bridge.models import McpCall
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.diagnostics.availability import (
    UNAVAILABLE,
    UNAVAILABLE_MESSAGE,
    is_database_away,
    log_database_away,
)
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.tools import call as calling
from proofroom.core.tools import get_tool
from proofroom.core.tools.call import parse_arguments
from proofroom.core.tools.progress import CallCancelled, Follower, check_cancelled, follow_progress

logger = logging.getLogger("mcp_bridge")

ERROR_META = "cms/error"
CANCELLED = "cancelled"


@dataclass(slots=True)
class _LoggedCall:
    """The data for the call log, filled in as the call goes on."""

    tool: str
    principal: str
    actor: Actor | None = None
    agent_id: str = ""
    error_code: str = ""


def call_tool(
    principal: Principal, name: str, raw: Mapping[str, Any], follower: Follower | None = None
) -> wire.CallToolResult:
    """Run the registered tool for the principal and log the call. `follower` is told how far it has come.

    Every failure is a result with `isError` and a text that says how to mend the call; an
    unexpected one shows only a reference to the server's log.
    """
    started = time.perf_counter()
    call = _LoggedCall(tool=name, principal=principal.id)
    try:
        with follow_progress(follower) if follower else nullcontext():
            check_cancelled()
            count_call(principal, get_tool(name))
            call.actor = actor_for(principal)
            tool = calling.find_tool(name)
            require_use(principal, call.actor, tool)
            arguments = parse_arguments(tool, raw)
            call.agent_id = str(getattr(arguments, "agent_id", None) or "")
            body = calling.call(tool, call.actor, arguments).body
        # Read back, so that the structured content is exactly the JSON of the text.
        result = wire.CallToolResult(
            content=[wire.TextContent(type="text", text=body.decode())],
            structured_content=orjson.loads(body),
        )
    except CmsError as error:
        call.error_code = error.code
        result = _error_result(calling.refusal_text(error), error.code, error.details)
    except CallCancelled:
        call.error_code = CANCELLED
        result = _error_result("The call was cancelled; nothing more was done.", CANCELLED)
    except Exception as error:
        if is_database_away(error):
            # Its log is in the same database.
            log_database_away(error, f"Tool {name}")
            return _error_result(UNAVAILABLE_MESSAGE, UNAVAILABLE)
        call.error_code = "internal"
        reference = uuid4().hex[:12]
        logger.exception("Tool %s failed, reference %s", name, reference)
        result = _error_result(f"Internal error, reference {reference}", "internal")
    _log_call(call, raw, result, started)
    return result


def result_text(result: wire.CallToolResult) -> str:
    """The text that the model reads: our results hold exactly one."""
    return "".join(item.text for item in result.content if isinstance(item, wire.TextContent))


def log_refused(principal: Principal, name: str, raw: Mapping[str, Any], code: str) -> None:
    """Log a call that never reached a tool."""
    call = _LoggedCall(tool=name, principal=principal.id, error_code=code)
    _log_call(call, raw, _error_result("", code), time.perf_counter())


def log_unknown(principal: Principal, name: str, raw: Mapping[str, Any]) -> None:
    """Count and log a call of a tool that is not there."""
    code = "unknown_tool"
    try:
        count_call(principal)
    except TooManyCalls as error:
        code = error.code
    log_refused(principal, name, raw, code)


def _error_result(
    text: str, code: str, details: Mapping[str, list[str]] | None = None
) -> wire.CallToolResult:
    # Never structured content here: some clients check it against the schema of a success and drop
    # the text.
    return wire.CallToolResult(
        content=[wire.TextContent(type="text", text=text)],
        is_error=True,
        _meta={ERROR_META: {"code": code, "details": dict(details or {})}},
    )


def _log_call(
    call: _LoggedCall, raw: Mapping[str, Any], result: wire.CallToolResult, started: float
) -> None:
    """Write the call into the call log, and into the activity log, which is kept for longer.

    Calls beyond the rate would flood the activity log, and are left out there.
    """
    try:
        request_bytes = len(orjson.dumps(raw, default=str))
    except orjson.JSONEncodeError:  # about, where they are none that JSON can hold
        request_bytes = len(repr(raw))
    try:
        with transaction.atomic():
            row = McpCall.objects.create(
                tool=calling.strip_unstorable(call.tool[:128]),
                principal=call.principal[:100],
                user_id=call.actor.user.pk if call.actor else None,
                agent_id=calling.strip_unstorable(call.agent_id[:100]),
                ms=round((time.perf_counter() - started) * 1000),
                ok=not result.is_error,
                error_code=call.error_code[:60],
                request_bytes=request_bytes,
                response_bytes=len(result_text(result).encode()),
            )
            if row.error_code != TooManyCalls.code:
                payload: JsonObject = {
                    "tool": row.tool,
                    "ok": row.ok,
                    "ms": row.ms,
                    "code": row.error_code,
                    "agentId": row.agent_id,
                }
                actor = call.actor or Actor(user=Visitor(), via="mcp", principal=call.principal)
                outbox.record("mcp.called", actor=actor, payload=payload)
    except (
        Exception
    ):  # the work is done: a log that cannot be written must not turn it into an error
        logger.exception("The call of %s could not be logged", call.tool)
