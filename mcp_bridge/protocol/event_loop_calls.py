"""Calls answered on the event loop: reads of mostly one statement, which are cheaper than a switch of
threads.

A call that is refused, fails, or would wait is repeated in a thread, as if nothing had been tried.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.conf import settings
from pydantic import BaseModel

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.rate_limits import windows_of
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.protocol.call_batches import CallBatches
from mcp_bridge.protocol.tool_calls import CallAnswer, LoggedCall, row_of, run_tool
from proofroom.core.database.event_loop_reads import WouldBlock, reading_on_event_loop
from proofroom.core.database.replica import reading_connection
from proofroom.core.errors import CmsError
from proofroom.core.observability.operations import OperationKind, measure, watch_connection
from proofroom.core.observability.work_ids import bind_ids, choose_request_id
from proofroom.core.tools import Tool

logger = logging.getLogger("mcp_bridge")
LONGEST_WAIT_SECONDS: Final = 0.05
"""Maximum seconds a statement may block all other sessions."""
SLOW_SECONDS: Final = 0.02
"""After a call with longer database time, threads answer for a while."""
PAUSE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result: the answer, if any, and whether the call was counted against its rates."""

    answer: CallAnswer | None = None
    is_counted: bool = False


class EventLoopCalls:
    """The event-loop calls of one server."""

    def __init__(self, access: ServerAccess, batches: CallBatches) -> None:
        self._access = access
        self._batches = batches
        self._paused_until = 0.0

    def answer(
        self, principal: Principal, tool: Tool[BaseModel], raw: Mapping[str, Any]
    ) -> Attempt:
        """Answer a call if that is possible without waiting."""
        if not self._may_try(principal, tool):
            return Attempt()
        call = LoggedCall(tool=tool.name, principal=principal.id)
        answer = self._run(call, principal, raw)
        if answer is not None:
            self._batches.add(row_of(call, raw, answer))
        return Attempt(answer, call.is_counted)

    def _may_try(self, principal: Principal, tool: Tool[BaseModel]) -> bool:
        return (
            tool.on_event_loop
            and time.monotonic() >= self._paused_until
            and not self._batches.is_full
            and getattr(settings, "MCP_DB_EXECUTOR", "threads") != "sensitive"
            # An unknown principal must be read from the database first.
            and self._access.known.find(principal) is not None
            and all(
                self._access.counts.has_room(window.key, window.limit)
                for window in windows_of(principal, tool)
            )
        )

    def _run(
        self, call: LoggedCall, principal: Principal, raw: Mapping[str, Any]
    ) -> CallAnswer | None:
        watch_connection(reading_connection())
        hit = partial(self._access.counts.count, tell=self._batches.tell_later)
        ids = bind_ids({"request_id": choose_request_id(None)})
        with ids, measure(OperationKind.TOOL_CALL, call.tool) as measured:
            try:
                with reading_on_event_loop(LONGEST_WAIT_SECONDS):
                    return run_tool(call, principal, raw, self._access, hit)
            except (WouldBlock, CmsError):
                pass
            except Exception as error:  # a thread repeats the call and reports the error
                logger.info(
                    "%s is left to threads for a while: %s", call.tool, type(error).__name__
                )
                self._pause()
            finally:
                if measured.database_seconds > SLOW_SECONDS:
                    self._pause()
            measured.is_passed_on = True  # the thread that answers measures the call
        return None

    def _pause(self) -> None:
        # A slow database would block all sessions of this process again and again.
        self._paused_until = time.monotonic() + PAUSE_SECONDS
