"""One call of a tool, from the raw arguments to the protocol's result. Synchronous: runs on a
worker thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any
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
from mcp_bridge.access.rate_limits import Hit, TooManyCalls, count_call
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.call_batches import CallBatches
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.database.faults import describe_outage, is_database_away, log_database_away
from proofroom.core.database.inserts import insert_rows
from proofroom.core.database.statements import new_instance
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.observability.operations import OperationKind, measure
from proofroom.core.observability.work_ids import bind_ids, choose_request_id
from proofroom.core.progress import CallCancelled, Follower, check_cancelled, follow_progress
from proofroom.core.tools import call as calling
from proofroom.core.tools import get_tool
from proofroom.core.tools.call import parse_arguments
from proofroom.oauth.scopes import DIAGNOSTICS

logger = logging.getLogger("mcp_bridge")

ERROR_META = "cms/error"
CANCELLED = "cancelled"
WRITES_FRAGMENTS_KEY = "cms.mcp.writes_fragments"
"""In the scope of a request: its transport writes JSON of an answer as it is, so that it need not be read back."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a call is answered: the JSON of a success, or the text of an error, which has a code."""

    body: bytes
    code: str = ""
    details: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        return bool(self.code)

    @property
    def text(self) -> str:
        """The text that the model reads."""
        return self.body.decode()

    @property
    def meta(self) -> JsonObject | None:
        details: JsonObject = {path: [*said] for path, said in self.details.items()}
        return {ERROR_META: {"code": self.code, "details": details}} if self.is_error else None

    def to_result(self) -> wire.CallToolResult:
        """The answer in the SDK's words."""
        # Read back, so that the structured content is exactly the JSON of the text. Errors have none: some clients
        # check it against the schema of a success and drop the text.
        return wire.CallToolResult(
            content=[wire.TextContent(type="text", text=self.text)],
            structured_content=None if self.is_error else orjson.loads(self.body),
            is_error=self.is_error,
            _meta=self.meta,
        )

    def to_wire(self, structured: Callable[[bytes], Any] = orjson.loads) -> dict[str, Any]:
        """The answer as the protocol writes it; `structured` turns the JSON of a success into its content."""
        answer: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": self.is_error,
        }
        if self.is_error:
            answer["_meta"] = self.meta
        else:
            answer["structuredContent"] = structured(self.body)
        return answer


def _error(text: str, code: str, details: Mapping[str, list[str]] | None = None) -> CallAnswer:
    return CallAnswer(text.encode("utf-8", "replace"), code, details or {})


@dataclass(slots=True)
class LoggedCall:
    """The data for the call log, filled in as the call goes on."""

    tool: str
    principal: str
    actor: Actor | None = None
    agent_id: str = ""
    is_read: bool = False
    is_counted: bool = False
    started: float = field(default_factory=time.perf_counter)


def call_tool(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None = None,
    access: ServerAccess | None = None,
) -> wire.CallToolResult:
    """The same as `answer_call`, in the SDK's words."""
    return answer_call(principal, name, raw, follower, access).to_result()


def answer_call(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None = None,
    access: ServerAccess | None = None,
    batches: CallBatches | None = None,
    is_counted: bool = False,
) -> CallAnswer:
    """Run the registered tool for the principal and log the call. `follower` is told how far it has come; `access` is
    what the server knows of the principal, where there is a server, and `batches` writes its log of reads. One that
    `is_counted` was counted against its rates before.

    Every failure is an answer with a code and a text that says how to mend the call; an
    unexpected one shows only a reference to the server's log.
    """
    ids = bind_ids({"request_id": choose_request_id(None)})
    with ids, measure(OperationKind.TOOL_CALL, name if get_tool(name) else "unknown") as measured:
        answer = _answer_call(principal, name, raw, follower, access, batches, is_counted)
        measured.outcome = "refused" if answer.is_error else "ok"
        return answer


def _answer_call(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None,
    access: ServerAccess | None,
    batches: CallBatches | None,
    is_counted: bool,
) -> CallAnswer:
    call = LoggedCall(tool=name, principal=principal.id, is_counted=is_counted)
    try:
        with follow_progress(follower) if follower else nullcontext():
            check_cancelled()
            answer = run_tool(
                call, principal, raw, access, access.counts.count if access else count_hit
            )
    except CmsError as error:
        answer = _error(calling.refusal_text(error), error.code, error.details)
    except CallCancelled:
        answer = _error("The call was cancelled; nothing more was done.", CANCELLED)
    except Exception as error:
        if is_database_away(error):
            # Its log is in the same database.
            log_database_away(error, f"Tool {name}")
            outage = describe_outage(error)
            return _error(outage.message, outage.code)
        reference = uuid4().hex[:12]
        logger.exception("Tool %s failed, reference %s", name, reference)
        answer = _error(f"Internal error, reference {reference}", "internal")
    _log_call(call, raw, answer, batches)
    return answer


def run_tool(
    call: LoggedCall,
    principal: Principal,
    raw: Mapping[str, Any],
    access: ServerAccess | None,
    hit: Hit,
) -> CallAnswer:
    """The answer of the tool that the call names. The call notes what is learnt of it.

    It is counted by `hit`, unless it was counted before. Raises `CmsError`.
    """
    if not call.is_counted:
        count_call(principal, get_tool(call.tool), hit=hit)
        call.is_counted = True
    call.actor = _actor_of(principal, call.tool, access)
    tool = calling.find_tool(call.tool)
    call.is_read = tool.kind == "read" and tool.group != DIAGNOSTICS
    require_use(principal, call.actor, tool)
    arguments = parse_arguments(tool, raw)
    call.agent_id = str(getattr(arguments, "agent_id", None) or "")
    return CallAnswer(calling.call(tool, call.actor, arguments).body)


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
    _log_call(LoggedCall(tool=name, principal=principal.id), raw, CallAnswer(b"", code))


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


def row_of(call: LoggedCall, raw: Mapping[str, Any], answer: CallAnswer) -> McpCall:
    """The row of the call log for a call that is over."""
    try:
        request_bytes = len(orjson.dumps(raw, default=str))
    except orjson.JSONEncodeError:  # about, where they are none that JSON can hold
        request_bytes = len(repr(raw))
    return new_instance(
        McpCall,
        tool=calling.strip_unstorable(call.tool[:128]),
        principal=call.principal[:100],
        user_id=call.actor.user.pk if call.actor else None,
        agent_id=calling.strip_unstorable(call.agent_id[:100]),
        ms=round((time.perf_counter() - call.started) * 1000),
        ok=not answer.is_error,
        error_code=answer.code[:60],
        request_bytes=request_bytes,
        response_bytes=len(answer.body),
        created_at=timezone.now(),
    )


def _log_call(
    call: LoggedCall,
    raw: Mapping[str, Any],
    answer: CallAnswer,
    batches: CallBatches | None = None,
) -> None:
    """Write the call into the call log: one statement, before the answer; a read that was answered with others, by
    `batches`, where there are any.

    What was refused and what does more than read goes into the activity log too, which is kept for longer. Calls
    beyond the rate would flood it, and are left out there.
    """
    row = row_of(call, raw, answer)
    told: JsonObject = {
        "tool": row.tool,
        "ok": row.ok,
        "ms": row.ms,
        "code": row.error_code,
        "agentId": row.agent_id,
    }
    try:
        is_answered_read = call.is_read and not answer.is_error
        if is_answered_read and batches is not None:
            batches.add(row)
            if batches.is_full:
                batches.write()
            return
        if is_answered_read or answer.code == TooManyCalls.code:
            insert_rows([row])
            return
        actor = call.actor or Actor(user=Visitor(), via="mcp", principal=call.principal)
        with transaction.atomic():
            insert_rows([row])
            outbox.record("mcp.called", actor=actor, payload=told)
    except (
        Exception
    ):  # the work is done: a log that cannot be written must not turn it into an error
        logger.exception("The call of %s could not be logged", call.tool)
