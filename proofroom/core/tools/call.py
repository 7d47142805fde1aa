"""One call of a tool, from its raw arguments to the JSON of its answer. What faces and agents share of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import BaseModel

from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotFound, RuleViolation
from proofroom.core.tools.arguments import nearest, parse_arguments
from proofroom.core.tools.registry import Tool, all_tools, get_tool

RESULT_MAX_BYTES: Final = 1_000_000
_NAME_SHOWN: Final = 128
_notes: ContextVar[list[bool] | None] = ContextVar("reads_untrusted", default=None)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The JSON of an answer, and whether visitors or other sites may have written some of it."""

    body: bytes
    is_untrusted: bool


def note_untrusted() -> None:
    """Say, from within a tool, that its answer holds words of visitors or of other sites."""
    notes = _notes.get()
    if notes is not None:
        notes.append(True)


@contextmanager
def _noting() -> Iterator[list[bool]]:
    notes: list[bool] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def find_tool(name: str) -> Tool[BaseModel]:
    """The tool of exactly that name. Raises `NotFound` (`unknown_tool`)."""
    tool = get_tool(name)
    if tool is None:
        raise NotFound(unknown_tool(name), code="unknown_tool")
    return tool


def unknown_tool(name: str, known: list[str] | None = None) -> str:
    """That there is no such tool, and which one was probably meant."""
    names = [tool.name for tool in all_tools()] if known is None else known
    guess = nearest(name[:_NAME_SHOWN], names)
    hint = f" (did you mean {guess}?)" if guess else "."
    return f"Unknown tool: {strip_unstorable(name)[:_NAME_SHOWN]}{hint}"


def call(
    tool: Tool[BaseModel], actor: Actor, arguments: BaseModel, most: int = RESULT_MAX_BYTES
) -> ToolResult:
    """The tool's answer, of `most` bytes. Raises `CmsError`."""
    with _noting() as notes:
        body = orjson.dumps(tool.handler(actor, arguments), option=orjson.OPT_UTC_Z)
    if len(body) > most:
        raise RuleViolation(
            f"The answer of {tool.name} has {len(body):,} bytes; at most {most:,} are "
            "sent. Ask for less: a smaller `limit`, `format` concise, or a narrower filter.",
            code="answer_too_long",
        )
    return ToolResult(body, tool.reads_untrusted or bool(notes))


def call_raw(
    tool: Tool[BaseModel], actor: Actor, raw: Mapping[str, Any], most: int = RESULT_MAX_BYTES
) -> ToolResult:
    """The same from raw arguments."""
    return call(tool, actor, parse_arguments(tool, raw), most)


def refusal_text(error: CmsError) -> str:
    """Return what a refusal says to a model: the sentence, what was wrong where, and the version that stands."""
    lines = [error.message]
    found = [(path, said) for path, sentences in error.details.items() for said in sentences]
    if len(found) != 1 or not _is_told(error.message, *found[0]):
        lines += [f"- {path}: {sentence}" for path, sentence in found if sentence != error.message]
    if isinstance(error, Conflict) and error.current is not None:
        lines.append(f"The version that stands now is {error.current}.")
    return "\n".join(lines)


def _is_told(message: str, path: str, sentence: str) -> bool:
    """Return whether the message says it already. Where inside of a value something is wrong, it must say as well."""
    return sentence in message and ("." not in path or path in message)


def strip_unstorable(name: str) -> str:
    """A name that a caller made up, without what databases refuse."""
    return name.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
