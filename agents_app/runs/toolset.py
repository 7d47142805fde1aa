"""The tools of a run: those of the registry that its agent and whoever began it allow, called as the agent."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol
from uuid import uuid4

from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from agents_app.providers.port import ProviderError, Step, ToolAnswer, ToolSpec
from agents_app.runs.ownership import owned_rows, require_ownership, run_stopped
from agents_app.runs.prompt import fence_untrusted
from agents_app.runs.run_log import add_step
from agents_app.runs.tool_policy import usable_tool, usable_tools
from agents_app.runs.undo_log import undo_recording
from agents_app.runs.untrusted_changes import post_has_untrusted_changes
from core.actor import Actor
from core.availability import is_database_away
from core.errors import CmsError
from core.json import JsonObject
from core.tools import Tool, calling, get_tool
from core.tools.schemas import lean_schema

logger = logging.getLogger(__name__)
UNKNOWN_TOOL: Final = "unknown tool"
MAX_ANSWER_BYTES: Final = 200_000
"""Bytes of an answer: more would fill the memory of most models."""


class Work(Protocol):
    """What the tools need to know of the run that uses them."""

    @property
    def run(self) -> AgentRun: ...
    @property
    def agent(self) -> AgentDefinition: ...
    @property
    def actor(self) -> Actor: ...


class RunToolbox:
    """A `Toolbox` for one attempt at a run. Every call is a step of the run."""

    def __init__(self, task: Work) -> None:
        self._run = task.run
        self._agent = task.agent
        named = usable_tools(task.agent, replace(task.actor, has_read_untrusted=False))
        # What the run may use is the most that runs it starts may use.
        self._actor = replace(task.actor, tools=frozenset(tool.name for tool in named))

    def specs(self) -> Sequence[ToolSpec]:
        tools = usable_tools(self._agent, self._actor)
        return [
            ToolSpec(tool.name, tool.description, lean_schema(tool.arguments)) for tool in tools
        ]

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        require_ownership(self._run)
        started = time.monotonic()
        answer, summary = self._answer(name, arguments)
        took = int((time.monotonic() - started) * 1000)
        # A model may call a tool by any words, those of visitors too; a step holds none.
        shown = name if get_tool(name) else UNKNOWN_TOOL
        add_step(self._run, Step("tool", shown, answer.ok, took, summary))
        return answer

    def _answer(self, name: str, arguments: JsonObject) -> tuple[ToolAnswer, str]:
        """What the model is told, and what the step says of it."""
        try:
            tool = usable_tool(name, self._agent, self._actor)
            text = self._text(tool, arguments)
        except CmsError as error:
            return ToolAnswer(self._lesson(name, error), ok=False), f"refused: {error.code}"
        except ProviderError:
            raise
        except Exception as error:
            if is_database_away(error):
                raise
            reference = uuid4().hex[:12]
            logger.exception(
                "tool %s of run %s failed, reference %s", name, self._run.pk, reference
            )
            text = f"Internal error, reference {reference}. Go on without this tool."
            return ToolAnswer(text, ok=False), f"failed, reference {reference}"
        return ToolAnswer(text, ok=True), f"{len(text):,} characters"

    def _text(self, tool: Tool[BaseModel], arguments: JsonObject) -> str:
        with undo_recording(self._run):
            called = calling.call_raw(tool, self._actor, arguments, most=MAX_ANSWER_BYTES)
        text = called.body.decode()
        # Whatever the tool does: a translation takes such words over, and what is submitted comes back in conflicts.
        if not called.is_untrusted and not post_has_untrusted_changes(arguments.get("postId")):
            return text
        self._now_only_reads()
        return fence_untrusted(self._run, text)

    def _now_only_reads(self) -> None:
        """Before anything of such an answer reaches the model."""
        if not owned_rows(self._run).update(has_read_untrusted=True):
            raise run_stopped()
        self._run.has_read_untrusted = True
        self._actor = replace(self._actor, has_read_untrusted=True)

    def _lesson(self, name: str, error: CmsError) -> str:
        if error.code == "unknown_tool":
            known = [tool.name for tool in usable_tools(self._agent, self._actor)]
            return calling.unknown_tool(name, known)
        return calling.refusal_text(error)
