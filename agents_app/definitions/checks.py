"""System checks: a broken agent file is an error that names file, field and reason."""

from __future__ import annotations

from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register
from django.utils.module_loading import autodiscover_modules

from agents_app.definitions import files as definitions
from core.tools import all_tools


@register("definitions")
def check_agents(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Every problem of every agent file, and tools that an agent names but nobody registered."""
    # A check looks at the files of now, not at what was read when the process started.
    definitions.reload()
    found = definitions.catalogue()
    messages: list[CheckMessage] = [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its agent is left out.",
            id="agents_app.E001",
        )
        for problem in found.problems
    ]
    autodiscover_modules("tools")
    known = {tool.name for tool in all_tools()}
    for agent in found.definitions.values():
        named = [("llmConfig.allowedMCPTools", name) for name in agent.llm_config.allowed_mcp_tools]
        for number, reaction in enumerate(agent.reactions):
            if reaction.type == "mcp_tool":
                named.append((f"reactions.{number}.config.toolName", reaction.config.tool_name))
        messages += [
            Error(
                f"{found.files[agent.id]}: {field}: there is no tool {name!r}",
                hint=f"Known: {', '.join(sorted(known)) or 'none'}.",
                id="agents_app.E002",
            )
            for field, name in named
            if name not in known
        ]
    return messages
