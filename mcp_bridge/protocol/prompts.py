"""Prompts: ready-made openings that a person picks in the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import mcp.types as wire
from mcp.shared.exceptions import MCPError

from core.errors import CmsError
from mcp_bridge.protocol.prompt_arguments import Prompt
from mcp_bridge.protocol.prompt_texts import TEXTS

PROMPTS = {prompt.name: prompt for prompt in TEXTS}


class Handlers(TypedDict):
    """What the protocol server takes for prompts."""

    on_list_prompts: Callable[..., Any]
    on_get_prompt: Callable[..., Any]


def handlers() -> Handlers:
    """The handlers; prompts hold no data, so they need no rights."""

    async def list_prompts(ctx: object, params: object) -> wire.ListPromptsResult:
        return wire.ListPromptsResult(prompts=[_wire(prompt) for prompt in PROMPTS.values()])

    async def get_prompt(ctx: object, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        prompt = find_prompt(params.name)
        text = _text(prompt, params.arguments or {})
        message = wire.PromptMessage(role="user", content=wire.TextContent(type="text", text=text))
        return wire.GetPromptResult(description=prompt.description, messages=[message])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}


def find_prompt(name: str) -> Prompt:
    """The prompt of that name. Raises `MCPError`."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise _invalid(f"Unknown prompt: {name[:100]}. Known: {', '.join(PROMPTS)}.")
    return prompt


def require_argument(prompt: Prompt, name: str) -> None:
    """Raise `MCPError` unless the prompt takes an argument of that name."""
    if name not in prompt.arguments:
        known = ", ".join(prompt.arguments) or "none"
        raise _invalid(f"{prompt.name} takes no argument {name[:100]!r}; it takes: {known}.")


def _text(prompt: Prompt, given: dict[str, str]) -> str:
    for name in given:
        require_argument(prompt, name)
    missing = [
        name
        for name, argument in prompt.arguments.items()
        if argument.is_required and not given.get(name)
    ]
    if missing:
        raise _invalid(f"{prompt.name} needs: {', '.join(missing)}.")
    try:
        return prompt.filled(given)
    except CmsError as error:
        raise _invalid(error.message) from error


def _invalid(message: str) -> MCPError:
    return MCPError(wire.INVALID_PARAMS, message)


def _wire(prompt: Prompt) -> wire.Prompt:
    return wire.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            wire.PromptArgument(
                name=name, description=argument.description, required=argument.is_required
            )
            for name, argument in prompt.arguments.items()
        ],
    )
