"""The tools that find and enable other tools, for clients that list the core set."""

from __future__ import annotations

import re
from typing import Final

from pydantic import BaseModel, Field

from mcp_bridge.access.principals import Principal, may_use
from mcp_bridge.access.tool_sets import CORE_TOOLS, current_call
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, Result, Tool, all_tools, get_tool, tool
from proofroom.core.tools.call import signature, unknown_tool

_WORD: Final = re.compile(r"[a-z0-9]+")
_MIN_STEM: Final = 4
_MAX_ENABLED: Final = 40


class FindTools(Arguments):
    q: str = Field("", max_length=200)
    limit: int = Field(10, ge=1, le=100)


class EnableTools(Arguments):
    names: list[str] = Field(min_length=1, max_length=_MAX_ENABLED)


class FoundTool(Result):
    """`signature` names the arguments, optional ones with a question mark."""

    name: str
    group: str
    description: str
    signature: str
    listed: bool | None = None


class FoundTools(Result):
    items: list[FoundTool]
    total: int


class EnabledToolsResult(Result):
    enabled: list[FoundTool]


@tool(
    title="Find tools",
    kind="read",
    permission="",
    group="context",
    result=FoundTools,
)
def find_tools(actor: Actor, arguments: FindTools) -> JsonObject:
    """Find more tools by what they do, such as revisions, media, global modules, agents. Without q all that you may
    use."""
    usable = _usable_tools(actor)
    wanted = _WORD.findall(arguments.q.lower())
    ranked = sorted(
        ((_score(one, wanted), one) for one in usable), key=lambda row: (-row[0], row[1].name)
    )
    found = [one for score, one in ranked if score or not wanted]
    return {
        "items": [_present(one) for one in found[: arguments.limit]],
        "total": len(found),
    }


@tool(
    title="Enable tools",
    kind="read",
    permission="",
    group="context",
    result=EnabledToolsResult,
)
def enable_tools(actor: Actor, arguments: EnableTools) -> JsonObject:
    """Add tools of find_tools to your list of tools, for this session, or for this credential where there are no
    sessions."""
    call = current_call.get()
    if call is None:
        raise RuleViolation(
            "Only AI clients enable tools; the tools of an agent are in its definition.",
            code="no_client",
        )
    usable = {one.name: one for one in _usable_tools(actor)}
    names = list(dict.fromkeys(arguments.names))
    for name in names:
        if get_tool(name) is None:
            raise invalid("names", unknown_tool(name), code="unknown_tool")
        if name not in usable:
            raise invalid("names", f"{name} is not for this credential. find_tools names yours.")
    call.enabled.add(names)
    return {"enabled": [_present(usable[name]) for name in names]}


def _usable_tools(actor: Actor) -> list[Tool[BaseModel]]:
    call = current_call.get()
    principal = Principal(id="run", tools=actor.tools) if call is None else call.principal
    return [one for one in all_tools() if may_use(principal, actor, one)]


def _present(one: Tool[BaseModel]) -> JsonObject:
    call = current_call.get()
    row: dict[str, Json] = {
        "name": one.name,
        "group": one.group,
        "description": one.description,
        "signature": signature(one),
    }
    if one.name in CORE_TOOLS or (call is not None and one.name in call.enabled.names()):
        row["listed"] = True
    return row


def _score(one: Tool[BaseModel], wanted: list[str]) -> int:
    """Return how well a tool fits the words: its name counts most, then title and group, then the description."""
    parts = (
        (4, one.name),
        (2, f"{one.title} {one.group}"),
        (1, one.description),
        (1, signature(one)),
    )
    return sum(
        weight
        for word in wanted
        for weight, text in parts
        if any(_matches(word, other) for other in _WORD.findall(text.lower()))
    )


def _matches(word: str, other: str) -> bool:
    """Return whether two words are equal but for their ends, such as link and links."""
    if word == other:
        return True
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) >= _MIN_STEM and longer.startswith(shorter)
