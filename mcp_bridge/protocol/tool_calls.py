"""One tool call, from the raw arguments to the protocol's result. Synchronous, on a worker thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
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
from mcp_bridge.access.rate_limits import TooManyCalls, count_call
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.access.tool_sets import (
    ClientCall,
    CredentialTools,
    EnabledTools,
    current_call,
)
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.brief import BriefSource
from mcp_bridge.protocol.call_batches import CallBatches
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.database.compiled_queries import new_instance
from proofroom.core.database.errors import (
    describe_outage,
    is_database_unreachable,
    log_database_unreachable,
)
from proofroom.core.database.inserts import insert_rows
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
"""Key in the scope of a request whose transport can write raw JSON fragments, to avoid parsing the answer again."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """The answer to a call: JSON of a success, or the text of an error with its code."""

    body: bytes
    code: str = ""
    details: Mapping[str, list[str]] = field(default_factory=dict)
    brief: str = ""
    """The editorial brief, as a text of its own after the answer."""

    @property
    def is_error(self) -> bool:
        return bool(self.code)

    @property
    def text(self) -> str:
        """The text for the model."""
        return self.body.decode()

    @property
    def texts(self) -> list[str]:
        """The texts for the model. The structured content equals the JSON of the first."""
        return [self.text, self.brief] if self.brief else [self.text]

    @property
    def meta(self) -> JsonObject | None:
        details: JsonObject = {path: [*sentences] for path, sentences in self.details.items()}
        return {ERROR_META: {"code": self.code, "details": details}} if self.is_error else None

    def to_result(self) -> wire.CallToolResult:
        """Return the answer as the SDK's model."""
        # Parsed again, so that the structured content equals the JSON of the text. Errors have
        # none, because some clients validate it against the success schema and drop the text.
        return wire.CallToolResult(
            content=[wire.TextContent(type="text", text=text) for text in self.texts],
            structured_content=None if self.is_error else orjson.loads(self.body),
            is_error=self.is_error,
            _meta=self.meta,
        )

    def to_wire(self, structured: Callable[[bytes], Any] = orjson.loads) -> dict[str, Any]:
        """Return the answer in the wire format. `structured` converts the JSON of a success to its content."""
        answer: dict[str, Any] = {
            "content": [{"type": "text", "text": text} for text in self.texts],
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
    """Data for the call log, filled in during the call."""

    tool: str
    principal: str
    actor: Actor | None = None
    agent_id: str = ""
    is_read: bool = False
    started: float = field(default_factory=time.perf_counter)


def call_tool(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None = None,
    access: ServerAccess | None = None,
) -> wire.CallToolResult:
    """Return the result of `answer_call` as the SDK's model."""
    return answer_call(principal, name, raw, follower, access).to_result()


def answer_call(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None = None,
    access: ServerAccess | None = None,
    batches: CallBatches | None = None,
    brief_for: BriefSource | None = None,
    enabled: EnabledTools | None = None,
) -> CallAnswer:
    """Run the registered tool for the principal and log the call.

    `follower` receives progress. `access` is the server's cache of principals, `batches` its log of
    reads. `brief_for` returns the editorial brief that a success also carries. `enabled` has the tools that
    the client added to its list.

    Every failure is an answer with a code and advice how to correct the call; an unexpected one
    contains only a reference to the server's log.
    """
    ids = bind_ids({"request_id": choose_request_id(None)})
    with ids, measure(OperationKind.TOOL_CALL, name if get_tool(name) else "unknown") as measured:
        client_call = ClientCall(principal, enabled or CredentialTools(principal.id))
        token = current_call.set(client_call)
        try:
            answer = _answer_call(principal, name, raw, follower, access, batches, brief_for)
        finally:
            current_call.reset(token)
        measured.outcome = "refused" if answer.is_error else "ok"
        return answer


def _answer_call(
    principal: Principal,
    name: str,
    raw: Mapping[str, Any],
    follower: Follower | None,
    access: ServerAccess | None,
    batches: CallBatches | None,
    brief_for: BriefSource | None,
) -> CallAnswer:
    call = LoggedCall(tool=name, principal=principal.id)
    try:
        with follow_progress(follower) if follower else nullcontext():
            # The client may have cancelled while the call waited for a thread.
            check_cancelled()
            answer = _run_tool(call, principal, raw, access)
            if brief_for is not None and call.actor is not None:
                answer = _with_brief(answer, call.actor, name, brief_for)
    except CmsError as error:
        answer = _error(calling.refusal_text(error), error.code, error.details)
    except CallCancelled:
        answer = _error("The call was cancelled; nothing more was done.", CANCELLED)
    except Exception as error:
        if is_database_unreachable(error):
            # The call log is in the same database.
            log_database_unreachable(error, f"Tool {name}")
            outage = describe_outage(error)
            return _error(outage.message, outage.code)
        # The client gets only this reference; the exception may contain secrets.
        reference = uuid4().hex[:12]
        logger.exception("Tool %s failed, reference %s", name, reference)
        answer = _error(f"Internal error, reference {reference}", "internal")
    _log_call(call, raw, answer, batches)
    return answer


def _run_tool(
    call: LoggedCall, principal: Principal, raw: Mapping[str, Any], access: ServerAccess | None
) -> CallAnswer:
    """Count the call and return its tool's answer. Fill in the data for the log. Raises `CmsError`."""
    count_call(principal, get_tool(call.tool), hit=access.counts.count if access else count_hit)
    call.actor = _actor_of(principal, call.tool, access)
    tool = calling.find_tool(call.tool)
    call.is_read = tool.kind == "read" and tool.group != DIAGNOSTICS
    require_use(principal, call.actor, tool)
    arguments = parse_arguments(tool, raw)
    call.agent_id = str(getattr(arguments, "agent_id", None) or "")
    return CallAnswer(calling.call(tool, call.actor, arguments).body)


def _with_brief(answer: CallAnswer, actor: Actor, name: str, brief_for: BriefSource) -> CallAnswer:
    """Return the answer with the brief of the site, if it is the first one of its session or credential."""
    try:
        brief = brief_for(actor, name)
        return replace(answer, brief=brief) if brief else answer
    except (
        Exception
    ):  # the work is done: a brief that cannot be read must not turn it into an error
        logger.exception("Cannot read the editorial brief")
        return answer


def _actor_of(principal: Principal, name: str, access: ServerAccess | None) -> Actor:
    """Return the actor: from the database now, or for reading tools at most one second old."""
    tool = get_tool(name)
    if access is not None and tool is not None and tool.kind == "read":
        return known_actor(principal, access)
    return actor_for(principal)


def result_text(result: wire.CallToolResult) -> str:
    """Return the text for the model, without a brief, which only calls by clients carry."""
    return "".join(item.text for item in result.content if isinstance(item, wire.TextContent))


def log_refused(principal: Principal, name: str, raw: Mapping[str, Any], code: str) -> None:
    """Log a call that never reached a tool."""
    _log_call(LoggedCall(tool=name, principal=principal.id), raw, CallAnswer(b"", code))


def log_unknown(
    principal: Principal, name: str, raw: Mapping[str, Any], access: ServerAccess
) -> None:
    """Count and log a call of an unknown tool."""
    code = "unknown_tool"
    try:
        count_call(principal, hit=access.counts.count)
    except TooManyCalls as error:
        code = error.code
    log_refused(principal, name, raw, code)


def _row_of(call: LoggedCall, raw: Mapping[str, Any], answer: CallAnswer) -> McpCall:
    """Return the call log's row for a finished call."""
    try:
        request_bytes = len(orjson.dumps(raw, default=str))
    except orjson.JSONEncodeError:  # approximate for values JSON cannot represent
        request_bytes = len(repr(raw))
    return new_instance(
        McpCall,
        # Clients can call any name, so it is cut to the column and cleaned.
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
    """Write the call to the call log: one statement, before the answer. Successful reads are batched
    if possible.

    Refused calls, and calls that do more than read, are also recorded in the activity log, which is
    stored longer. Calls beyond the rate are not, because they would flood it.
    """
    row = _row_of(call, raw, answer)
    payload: JsonObject = {
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
            outbox.record("mcp.called", actor=actor, payload=payload)
    except (
        Exception
    ):  # the work is done: a log that cannot be written must not turn it into an error
        logger.exception("Cannot log a call of %s", call.tool)
