"""The tools that an agent may use. Checked for what a model is shown and again at each call."""

from __future__ import annotations

from functools import cache
from typing import Final

from django.utils.module_loading import autodiscover_modules
from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, NotAllowed
from proofroom.core.tools import Tool, all_tools
from proofroom.core.tools.call import find_tool

FORBIDDEN_GROUPS: Final = frozenset({"diagnostics"})
"""Groups of tools that look into the site itself. No list of an agent lends them."""
EXPLICIT_TOOLS: Final = frozenset({"submit_ai_review_to_review"})
"""Tools that no empty list lends: an agent hands its words to people only where its file says so."""


@cache
def load_tools() -> None:
    """Have every app register its tools. Costs something once per process."""
    autodiscover_modules("tools")


def listed_tools(agent: AgentDefinition) -> list[Tool[BaseModel]]:
    """Return the tools that the agent's file lists, all where it lists none; nothing without useMCP."""
    load_tools()
    return [tool for tool in all_tools() if _is_listed(tool, agent)]


def usable_tools(agent: AgentDefinition, actor: Actor) -> list[Tool[BaseModel]]:
    """Return the tools that the agent may use in a run that acts as `actor`, in order of name."""
    return [tool for tool in listed_tools(agent) if _refusal(tool, agent, actor) is None]


def usable_tool(name: str, agent: AgentDefinition, actor: Actor) -> Tool[BaseModel]:
    """The tool of exactly that name. Raises `NotFound` or `NotAllowed`, saying why the run may not use it."""
    load_tools()
    tool = find_tool(name)
    refusal = _refusal(tool, agent, actor)
    if refusal is not None:
        raise refusal
    return tool


def _is_listed(tool: Tool[BaseModel], agent: AgentDefinition) -> bool:
    config = agent.llm_config
    if not config.use_mcp or tool.group in FORBIDDEN_GROUPS:
        return False
    if config.allowed_mcp_tools:
        return tool.name in config.allowed_mcp_tools
    return tool.name not in EXPLICIT_TOOLS


def _refusal(tool: Tool[BaseModel], agent: AgentDefinition, actor: Actor) -> CmsError | None:
    if not _is_listed(tool, agent):
        return NotAllowed(
            f"{tool.name} is not on the list of tools of the agent {agent.id}.",
            code="tool_not_allowed",
        )
    if actor.tools is not None and tool.name not in actor.tools:
        return NotAllowed(
            f"{tool.name} is not on the list of tools of whoever began this run.",
            code="tool_not_allowed",
        )
    if actor.has_read_untrusted and tool.kind != "read":
        return NotAllowed(
            f"{tool.name} is refused: this run has read what visitors or other sites wrote, "
            "so it may only read. Say in your answer what should be done.",
            code="read_only",
        )
    try:
        actor.require(tool.permission)
    except NotAllowed as error:
        return error
    return None
