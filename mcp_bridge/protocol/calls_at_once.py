"""Calls that are answered on the event loop: reads of mostly one statement, which cost less than the thread for them.

What fails in any way, is refused, or would wait is left to a thread, which answers as if nothing had been tried.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import SynchronousOnlyOperation
from pydantic import BaseModel

from mcp_bridge.access.principals import Principal, may_use
from mcp_bridge.access.rate_limits import count_call_unasked
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.protocol.call_batches import CallBatches
from mcp_bridge.protocol.tool_calls import (
    CallAnswer,
    LoggedCall,
    agent_id_of,
    is_plain_read,
    row_of,
)
from proofroom.core.actor import Actor
from proofroom.core.database.patience import NotAtOnce, at_once
from proofroom.core.database.replica import reading_connection
from proofroom.core.observability.operations import (
    OperationKind,
    measure,
    watch_connection,
)
from proofroom.core.observability.work_ids import bind_ids, choose_request_id
from proofroom.core.tools import Tool
from proofroom.core.tools import call as calling
from proofroom.core.tools.call import parse_arguments

logger = logging.getLogger("mcp_bridge")
PATIENCE_SECONDS: Final = 0.05
"""The longest that all other sessions wait for a statement of one."""
SLOW_SECONDS: Final = 0.02
"""After a call whose statements took longer, threads answer for a while."""
REST_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of it: the answer, if there is one, and whether the call was counted against its rates."""

    answer: CallAnswer | None = None
    is_counted: bool = False


_NOTHING: Final = Attempt()


class CallsAtOnce:
    """The calls of one server, from its event loop."""

    def __init__(self, access: ServerAccess, batches: CallBatches) -> None:
        self._access = access
        self._batches = batches
        self._rests_until = 0.0

    def answer(
        self, principal: Principal, tool: Tool[BaseModel], raw: Mapping[str, Any]
    ) -> Attempt:
        """Answer a call if that can be done at once."""
        if not tool.at_once or time.monotonic() < self._rests_until:
            return _NOTHING
        if getattr(settings, "MCP_DB_EXECUTOR", "threads") == "sensitive":
            return _NOTHING
        actor: Actor | None = self._access.known.find(principal)
        if actor is None or not is_plain_read(tool) or not may_use(principal, actor, tool):
            return _NOTHING
        try:
            arguments = parse_arguments(tool, raw)
        except Exception:  # a thread says what is wrong
            return _NOTHING
        if not count_call_unasked(principal, tool, self._access.counts):
            return _NOTHING
        call = LoggedCall(
            tool=tool.name,
            principal=principal.id,
            actor=actor,
            agent_id=agent_id_of(arguments),
            is_read=True,
        )
        answer = self._read(tool, actor, arguments)
        if answer is None or not self._batches.add_unwritten(row_of(call, raw, answer)):
            return Attempt(is_counted=True)
        return Attempt(answer, is_counted=True)

    def _read(self, tool: Tool[BaseModel], actor: Actor, arguments: BaseModel) -> CallAnswer | None:
        watch_connection(reading_connection())
        ids = bind_ids({"request_id": choose_request_id(None)})
        with ids, measure(OperationKind.TOOL_CALL, tool.name) as measured:
            try:
                with at_once(PATIENCE_SECONDS):
                    return CallAnswer(calling.call(tool, actor, arguments).body)
            except NotAtOnce:
                pass
            except SynchronousOnlyOperation:
                # A database that is asked by cursors only, or statements that are logged.
                self._rest()
            except Exception:
                logger.debug("Tool %s failed at once", tool.name, exc_info=True)
            finally:
                if measured.database_seconds > SLOW_SECONDS:
                    self._rest()
            measured.is_passed_on = True  # to the thread that answers
        return None

    def _rest(self) -> None:
        self._rests_until = time.monotonic() + REST_SECONDS
