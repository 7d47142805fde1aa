"""Prompts: ready-made openings that a person picks in the client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

import mcp.types as wire
from mcp.shared.exceptions import MCPError

ENDING = (
    " Stage everything in AI Review, then call submit_ai_review_to_review "
    "with a note on what changed and why."
)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A text with `{placeholders}`; `arguments` maps each to what it means, all required."""

    name: str
    title: str
    description: str
    arguments: dict[str, str]
    text: str


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        _Prompt(
            "write-post",
            "Write a post",
            "Draft a new post from a brief.",
            {"type": "Post type, for example blog", "brief": "What to write, for whom"},
            "Draft a new post of the type {type}. Call get_post_type_config and "
            "suggest_modules_for_layout first, then "
            "create_post_ai_review." + ENDING + "\n\nBrief: {brief}",
        ),
        _Prompt(
            "improve-seo",
            "Improve SEO",
            "Better title, description and headings for a post.",
            {"postId": "Id of the post"},
            "Read the post {postId} with get_post_context. Propose a metaTitle of at most 60 and "
            "a metaDescription of at most 155 characters, and clearer headings where they are "
            "vague. Keep every fact." + ENDING,
        ),
        _Prompt(
            "translate-post",
            "Translate a post",
            "Translate a post into another locale.",
            {"postId": "Id of the post", "locale": "Language code to translate into"},
            "Translate the post {postId} into {locale}: list_post_translations, then "
            "create_translation_ai_review, then the translatable props of each module it lists. "
            "Keep names, links and numbers." + ENDING,
        ),
        _Prompt(
            "review-changes",
            "Review the changes",
            "Check what is staged on a post before a person does.",
            {"postId": "Id of the post"},
            "Read the post {postId} with get_post_context in format full. List each staged "
            "change with what it improves, what it risks and any fact that the live content does "
            "not support. Change nothing.",
        ),
    )
}


class Handlers(TypedDict):
    """What the protocol server takes for prompts."""

    on_list_prompts: Callable[..., Any]
    on_get_prompt: Callable[..., Any]


def handlers() -> Handlers:
    """The handlers; prompts hold no data, so they need no rights."""

    async def list_prompts(ctx: object, params: object) -> wire.ListPromptsResult:
        return wire.ListPromptsResult(prompts=[_wire(prompt) for prompt in PROMPTS.values()])

    async def get_prompt(ctx: object, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        prompt = PROMPTS.get(params.name)
        if prompt is None:
            raise MCPError(
                wire.INVALID_PARAMS,
                f"Unknown prompt: {params.name[:100]}. Known: {', '.join(PROMPTS)}.",
            )
        given = params.arguments or {}
        missing = [name for name in prompt.arguments if not given.get(name)]
        if missing:
            raise MCPError(wire.INVALID_PARAMS, f"{prompt.name} needs: {', '.join(missing)}.")
        text = prompt.text
        for name in prompt.arguments:
            text = text.replace("{" + name + "}", given[name])
        message = wire.PromptMessage(role="user", content=wire.TextContent(type="text", text=text))
        return wire.GetPromptResult(description=prompt.description, messages=[message])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}


def _wire(prompt: _Prompt) -> wire.Prompt:
    return wire.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            wire.PromptArgument(name=name, description=text, required=True)
            for name, text in prompt.arguments.items()
        ],
    )
