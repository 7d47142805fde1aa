"""One call of a tool, from the raw arguments to the protocol's result. Synchronous: runs on a
worker thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import mcp.types as wire
import orjson
from django.db import transaction
from django.utils import timezone

from mcp_bridge.access.principals import (
    Principal,
    actor_for,
    known_actor,
    require_use,
)
from mcp_bridge.access.rate_limits import TooManyCalls, count_call
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.models import McpCall
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.database.statements import Insert
from proofroom.core.diagnostics.availability import (
    UNAVAILABLE,
    UNAVAILABLE_MESSAGE,
    is_database_away,
    log_database_away,
)
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.observability.operations import OperationKind, measure
from proofroom.core.observability.work_ids import bind_ids, choose_request_id
from proofroom.core.tools import call as calling
from proofroom.core.tools import get_tool
from proofroom.core.tools.call import parse_arguments
from proofroom.core.tools.progress import CallCancelled, Follower, check_cancelled, follow_progress
from proofroom.oauth.scopes import DIAGNOSTICS

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
    is_read: bool = False
    started: float = field(default_factory=time.perf_counter)


def call_tool(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None = None,
    access: ServerAccess | None = None,
) -> wire.CallToolResult:
    """Run the registered tool for the principal and log the call. `follower` is told how far it has come; `access` is
    what the server knows of the principal, where there is a server.

    Every failure is a result with `isError` and a text that says how to mend the call; an
    unexpected one shows only a reference to the server's log.
    """
    ids = bind_ids({"request_id": choose_request_id(None)})
    with ids, measure(OperationKind.TOOL_CALL, name if get_tool(name) else "unknown") as measured:
        result = _answer_call(principal, name, raw, follower, access)
        measured.outcome = "refused" if result.is_error else "ok"
        return result


def _answer_call(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None,
    access: ServerAccess | None,
) -> wire.CallToolResult:
    call = _LoggedCall(tool=name, principal=principal.id)
    try:
        with follow_progress(follower) if follower else nullcontext():
            check_cancelled()
            count_call(principal, get_tool(name), hit=access.counts.count if access else count_hit)
            call.actor = _actor_of(principal, name, access)
            tool = calling.find_tool(name)
            call.is_read = tool.kind == "read" and tool.group != DIAGNOSTICS
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
    _log_call(call, raw, result)
    return result


def _actor_of(principal: Principal, name: str, access: ServerAccess | None) -> Actor:
    """Who calls: as the account stands now, and for what only reads as it was within the last second."""
    tool = get_tool(name)
    if access is not None and tool is not None and tool.kind == "read":
        return known_actor(principal, access)
    return actor_for(principal)


def result_text(result: wire.CallToolResult) -> str:
    """The text that the model reads: our results hold exactly one."""
    return "".join(item.text for item in result.content if isinstance(item, wire.TextContent))


def log_refused(principal: Principal, name: str, raw: Mapping[str, Any], code: str) -> None:
    """Log a call that never reached a tool."""
    call = _LoggedCall(tool=name, principal=principal.id, error_code=code)
    _log_call(call, raw, _error_result("", code))


def log_unknown(
    principal: Principal, name: str, raw: Mapping[str, Any], access: ServerAccess
) -> None:
    """Count and log a call of a tool that is not there."""
    code = "unknown_tool"
    try:
        count_call(principal, hit=access.counts.count)
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


_INSERT_CALL: Final = Insert(McpCall)


def _log_call(call: _LoggedCall, raw: Mapping[str, Any], result: wire.CallToolResult) -> None:
    """Write the call into the call log: one statement, before the answer.

    What was refused and what does more than read goes into the activity log too, which is kept for longer. Calls
    beyond the rate would flood it, and are left out there.
    """
    try:
        request_bytes = len(orjson.dumps(raw, default=str))
    except orjson.JSONEncodeError:  # about, where they are none that JSON can hold
        request_bytes = len(repr(raw))
    told: JsonObject = {
        "tool": calling.strip_unstorable(call.tool[:128]),
        "ok": not result.is_error,
        "ms": round((time.perf_counter() - call.started) * 1000),
        "code": call.error_code[:60],
        "agentId": calling.strip_unstorable(call.agent_id[:100]),
    }
    row = {
        "tool": told["tool"],
        "principal": call.principal[:100],
        "user_id": call.actor.user.pk if call.actor else None,
        "agent_id": told["agentId"],
        "ms": told["ms"],
        "ok": told["ok"],
        "error_code": told["code"],
        "request_bytes": request_bytes,
        "response_bytes": len(result_text(result).encode()),
        "created_at": timezone.now(),
    }
    try:
        if call.error_code == TooManyCalls.code or (call.is_read and not result.is_error):
            _INSERT_CALL.execute(row)
            return
        actor = call.actor or Actor(user=Visitor(), via="mcp", principal=call.principal)
        with transaction.atomic():
            _INSERT_CALL.execute(row)
            outbox.record("mcp.called", actor=actor, payload=told)
    except (
        Exception
    ):  # the work is done: a log that cannot be written must not turn it into an error
        logger.exception("The call of %s could not be logged", call.tool)
