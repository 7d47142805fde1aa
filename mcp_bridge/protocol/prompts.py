"""Prompts: ready-made texts that users choose in their client, with the names of the tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict
from uuid import UUID

import mcp.types as wire
from django.conf import settings
from mcp.shared.exceptions import MCPError

from agents_app.definitions.agents import get_agent
from proofroom.core.errors import CmsError, invalid
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import post_types

POST: Final = "post"
POST_TYPE: Final = "post type"
MODULE: Final = "module type"
LOCALE: Final = "locale"
AGENT: Final = "agent"
BRIEF: Final = "brief"
_MAX_ARGUMENT_LENGTH: Final = 20_000
_MAX_SHOWN_LENGTH: Final = 60
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument; `kind` determines its valid values."""

    kind: str
    description: str
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with `{placeholders}` for its arguments. `further`: sentences for optional arguments,
    inserted at `{further}`.
    """

    name: str
    title: str
    description: str
    arguments: Mapping[str, Argument]
    text: str
    further: Mapping[str, str] = field(default_factory=dict)

    def filled(self, given: Mapping[str, str]) -> str:
        """Return the text with these arguments. Raises `RuleViolation` on an invalid one."""
        values = {
            name: _check_argument(name, self.arguments[name].kind, value)
            for name, value in given.items()
            if value
        }
        sentences = [text for name, text in self.further.items() if name in values]
        values["further"] = "".join(f"\n{_fill(text, values)}" for text in sentences)
        return _fill(self.text, values)


def _fill(text: str, values: Mapping[str, str]) -> str:
    # In one pass, so that placeholders in values are not filled.
    return _PLACEHOLDER.sub(lambda place: values.get(place[1], place[0]), text)


def _check_argument(name: str, kind: str, value: str) -> str:
    reject_unstorable(value, name)
    printable_value = repr(value[:_MAX_SHOWN_LENGTH])
    if kind == POST:
        try:
            return str(UUID(value))
        except ValueError:
            sentence = f"{printable_value} is no id of a post. Call list_posts to find it."
            raise invalid(name, sentence) from None
    if kind in (POST_TYPE, LOCALE):
        known = list(post_types.names() if kind == POST_TYPE else settings.CMS_ENV.locales)
        if value not in known:
            raise invalid(
                name, f"{name} {printable_value} is not known; known: {', '.join(known)}."
            )
        return value
    if kind == AGENT:
        if get_agent(value) is None:
            raise invalid(
                name, f"No agent is named {printable_value}. Call list_agents for the ids."
            )
        return value
    if len(value) > _MAX_ARGUMENT_LENGTH:
        raise invalid(
            name, f"{name} has {len(value):,} characters; at most {_MAX_ARGUMENT_LENGTH:,} fit."
        )
    # Free text is put between tags, and closing tags inside of it are defused.
    inner = re.sub(rf"<(\s*/?\s*{name})", r"‹\1", value, flags=re.IGNORECASE)
    return f"<{name}>\n{inner}\n</{name}>"


_AS_AGENT: Final = Argument(AGENT, "Id of the agent to write as", is_required=False)
_FURTHER: Final = {
    "agentId": "Pass agentId {agentId} to every tool that takes it.",
    "locale": "Write it in the language {locale}, and pass locale {locale} to create_post_ai_review.",
}
_ENDING: Final = (
    "submit_ai_review_to_review with a note on what changed and why. What it answers as a conflict, "
    "a person staged otherwise: leave it. Then tell me what you proposed; a person approves it."
)

WRITE_POST: Final = Prompt(
    "write-post",
    "Write a post",
    "Draft a new post from a brief.",
    {
        "type": Argument(POST_TYPE, "Post type, for example blog"),
        "brief": Argument(BRIEF, "What to write, and for whom"),
        "locale": Argument(LOCALE, "Language code; the site's own without it", is_required=False),
        "agentId": _AS_AGENT,
    },
    f"""\
Draft a new post of the type {{type}} from the brief at the end. Call these tools in order:
1. get_post_type_config with postType {{type}}: its fields, limits, taxonomies and module groups.
2. suggest_modules_for_layout with postType {{type}} and the brief: what the page needs. Choose the module group \
that comes nearest; get_module_group lists its modules.
3. get_module_schema for each module type that you will fill.
4. Where a picture helps: search_media, and use the id of a file whose altText fits. Only if the brief asks for \
a new picture and none fits: generate_image, which costs money.
5. create_post_ai_review with type, title, excerpt, moduleGroupName and moduleEdits, one for each module: its \
type and orderIndex with props, or with contentMarkdown for prose. Look into appliedModuleEdits of the answer: \
what failed, mend with update_post_module_ai_review and the postModuleId from seededModules. What the group \
lacks, add with add_module_to_post_ai_review; what stays empty, remove with remove_post_module_ai_review.
6. save_post_ai_review with the postId and a patch of metaTitle (at most 60 characters), metaDescription (at \
most 155) and, if you chose a picture, featuredMediaId.
7. get_post_context with the postId: read what you staged, and mend it.
8. {_ENDING}
Write no facts that the brief does not give; say what is missing instead.{{further}}

{{brief}}""",
    _FURTHER,
)

IMPROVE_SEO: Final = Prompt(
    "improve-seo",
    "Improve SEO",
    "Better title, description and headings for a post.",
    {"postId": Argument(POST, "Id of the post; type words of its title"), "agentId": _AS_AGENT},
    f"""\
Improve how search engines show the post {{postId}}. Call these tools in order:
1. get_post_context with postId {{postId}}: read all of it, and what is staged already.
2. save_post_ai_review with a patch of metaTitle (at most 60 characters) and metaDescription (at most 155) that \
say what the post offers, in its own language. Leave out what is good already.
3. Only for headings that say nothing: get_module_schema for the module's type, then \
update_post_module_ai_review with the postModuleId and just those props.
4. {_ENDING}
Keep every fact, the slug and the meaning. If nothing needs to change, stage nothing and say so.{{further}}""",
    {"agentId": _FURTHER["agentId"]},
)

TRANSLATE_POST: Final = Prompt(
    "translate-post",
    "Translate a post",
    "Translate a post into another locale.",
    {
        "postId": Argument(POST, "Id of the post; type words of its title"),
        "locale": Argument(LOCALE, "Language code to translate into"),
        "agentId": _AS_AGENT,
    },
    f"""\
Translate the post {{postId}} into {{locale}}. Call these tools in order:
1. get_post_context with postId {{postId}}: read all of it.
2. list_post_translations with postId {{postId}}. If {{locale}} is among them, work on the post that it names: \
read it with get_post_context and go on with step 4.
3. create_translation_ai_review with postId {{postId}}, locale {{locale}}, a slug, fields (title, excerpt, metaTitle \
and metaDescription, translated; leave out what the original does not have), and modules: for each module with text \
its postModuleId as sourcePostModuleId, and just the props that hold text, translated. It answers translationId, and \
for each module its postModuleId and in translatable the props that hold text.
4. For what is not translated yet: update_post_module_ai_review with the postModuleId of a module and just those \
props, prose in contentMarkdown; save_post_ai_review with a patch of the fields.
5. get_post_context with the translation's id: nothing may be left in the old language.
6. {_ENDING} Submit the translation's id, not {{postId}}.
Keep names, links, numbers, Markdown and the order of things. Translate what is said; add nothing.{{further}}""",
    {"agentId": _FURTHER["agentId"]},
)

REVIEW_CHANGES: Final = Prompt(
    "review-changes",
    "Review the changes",
    "Check what is staged on a post before a person does.",
    {"postId": Argument(POST, "Id of the post; type words of its title")},
    """\
Check what is staged on the post {postId} before a person decides on it. Call these tools and no others:
1. get_post_context with postId {postId} and format full: what is live, what is staged, and by whom.
2. get_module_schema for each type of module that was changed: what its props are for.
Then answer with a list, one entry for each staged change: its path, what it improves, what it risks, and every \
fact in it that the live content does not support. End with what you would take, and what not. Change nothing: a \
person decides.""",
)

ALL_PROMPTS: Final = (WRITE_POST, IMPROVE_SEO, TRANSLATE_POST, REVIEW_CHANGES)


PROMPTS = {prompt.name: prompt for prompt in ALL_PROMPTS}


class PromptHandlers(TypedDict):
    """The handlers of the protocol server for prompts."""

    on_list_prompts: Callable[..., Any]
    on_get_prompt: Callable[..., Any]


def handlers() -> PromptHandlers:
    """Return the handlers. Prompts contain no data, so they need no permission."""

    async def list_prompts(ctx: object, params: object) -> wire.ListPromptsResult:
        prompts = [
            wire.Prompt(
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
            for prompt in PROMPTS.values()
        ]
        return wire.ListPromptsResult(prompts=prompts)

    async def get_prompt(ctx: object, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        prompt = find_prompt(params.name)
        given = params.arguments or {}
        for name in given:
            require_argument(prompt, name)
        missing = [
            name
            for name, argument in prompt.arguments.items()
            if argument.is_required and not given.get(name)
        ]
        if missing:
            raise MCPError(wire.INVALID_PARAMS, f"{prompt.name} needs: {', '.join(missing)}.")
        try:
            text = prompt.filled(given)
        except CmsError as error:
            raise MCPError(wire.INVALID_PARAMS, error.message) from error
        message = wire.PromptMessage(role="user", content=wire.TextContent(type="text", text=text))
        return wire.GetPromptResult(description=prompt.description, messages=[message])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}


def find_prompt(name: str) -> Prompt:
    """Return the prompt of that name. Raises `MCPError`."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        message = f"Unknown prompt: {name[:100]}. Known: {', '.join(PROMPTS)}."
        raise MCPError(wire.INVALID_PARAMS, message)
    return prompt


def require_argument(prompt: Prompt, name: str) -> None:
    """Raise `MCPError` unless the prompt takes an argument of that name."""
    if name not in prompt.arguments:
        known = ", ".join(prompt.arguments) or "none"
        message = f"{prompt.name} takes no argument {name[:100]!r}; it takes: {known}."
        raise MCPError(wire.INVALID_PARAMS, message)
