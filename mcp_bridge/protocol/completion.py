"""Completion: what may stand in an argument of a prompt, or in the variable of a resource's address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import mcp.types as wire
from django.conf import settings
from django.db.models import Q, QuerySet
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from agents_app.definitions.files import all_agents
from agents_app.definitions.switches import only_enabled
from content import queries
from content.definitions import modules, post_types
from content.models import Layer, Post
from core.actor import Actor
from core.errors import CmsError
from core.hostile import refuse_unstorable
from core.tools import get_tool
from mcp_bridge.access.credentials import Principal, actor_for, may_use
from mcp_bridge.access.rate import count_call
from mcp_bridge.protocol.prompt_arguments import AGENT, LOCALE, MODULE, POST, POST_TYPE
from mcp_bridge.protocol.prompts import find_prompt, require_argument
from mcp_bridge.protocol.resources import find_template
from mcp_bridge.protocol.threads import Workers

Context = ServerRequestContext[Any, Any]
MOST: Final = 100
_LONGEST: Final = 200
_ID_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class Asked:
    """What was typed, and the arguments that stand already. `prompt` is empty for a resource."""

    typed: str
    prompt: str = ""
    given: Mapping[str, str] = field(default_factory=dict)


def handler(workers: Workers, principal_of: Callable[[Context], Principal]) -> Callable[..., Any]:
    """The handler; it answers only what the caller's own tools would list, and counts as a call."""

    async def complete(ctx: Context, params: wire.CompleteRequestParams) -> wire.CompleteResult:
        return await workers.run(_completed, principal_of(ctx), params)

    return complete


def _completed(principal: Principal, params: wire.CompleteRequestParams) -> wire.CompleteResult:
    kind = _kind(params)
    given = (params.context.arguments if params.context else None) or {}
    prompt = params.ref.name if isinstance(params.ref, wire.PromptReference) else ""
    asked = Asked(params.argument.value, prompt, given)
    try:
        values, total = _values(principal, kind, asked)
    except CmsError as error:
        raise MCPError(wire.INVALID_PARAMS, error.message) from error
    completion = wire.Completion(values=values, total=total, has_more=total > len(values))
    return wire.CompleteResult(completion=completion)


def _kind(params: wire.CompleteRequestParams) -> str:
    name = params.argument.name
    if isinstance(params.ref, wire.PromptReference):
        prompt = find_prompt(params.ref.name)
        require_argument(prompt, name)
        return prompt.arguments[name].kind
    template = find_template(params.ref.uri)
    if name != template.variable:
        message = f"{template.uri} has no {name[:100]!r}; it has {template.variable!r}."
        raise MCPError(wire.INVALID_PARAMS, message)
    return template.kind


def _values(principal: Principal, kind: str, asked: Asked) -> tuple[list[str], int]:
    count_call(principal)
    actor = actor_for(principal)
    source = _SOURCES.get(kind)
    if source is None or len(asked.typed) > _LONGEST or not _may_list(principal, actor, source[0]):
        return [], 0
    refuse_unstorable({"value": asked.typed, "arguments": dict(asked.given)})
    return source[1](asked)


def _may_list(principal: Principal, actor: Actor, name: str) -> bool:
    tool = get_tool(name)
    return tool is not None and may_use(principal, actor, tool)


def _of_few(known: list[str], asked: Asked) -> tuple[list[str], int]:
    """Those that begin with what was typed, then those that hold it."""
    typed = asked.typed.strip().lower()
    found = [name for name in known if typed in name.lower()]
    found.sort(key=lambda name: not name.lower().startswith(typed))
    return found[:MOST], len(found)


def _post_types(asked: Asked) -> tuple[list[str], int]:
    return _of_few(list(post_types.names()), asked)


def _modules(asked: Asked) -> tuple[list[str], int]:
    return _of_few(list(modules.names()), asked)


def _agents(asked: Asked) -> tuple[list[str], int]:
    return _of_few([agent.id for agent in only_enabled(all_agents())], asked)


def _locales(asked: Asked) -> tuple[list[str], int]:
    """For a translation those that the post does not have yet."""
    taken: set[str] = set()
    post_id = _as_id(asked.given.get("postId", ""))
    if asked.prompt == "translate-post" and post_id is not None:
        group = queries.visible_posts().filter(pk=post_id).values("translation_group")
        there = queries.visible_posts().filter(translation_group__in=group)
        taken = set(there.values_list("locale", flat=True))
    return _of_few([name for name in settings.CMS_ENV.locales if name not in taken], asked)


def _posts(asked: Asked) -> tuple[list[str], int]:
    """Ids of posts by words of their title, by slug, or by how the id begins; the latest change first."""
    posts = _fitting(queries.visible_posts(), asked)
    typed = asked.typed.strip()
    if typed:
        posts = posts.filter(
            Q(title__icontains=typed) | Q(slug__icontains=typed) | _id_begins(typed)
        )
    ids = queries.ordered(posts, "-updatedAt").values_list("pk", flat=True)[: MOST + 1]
    found = [str(pk) for pk in ids]
    return found[:MOST], posts.count() if len(found) > MOST else len(found)


def _fitting(posts: QuerySet[Post], asked: Asked) -> QuerySet[Post]:
    """Posts that the prompt has a use for."""
    if asked.prompt == "review-changes":
        return posts.filter(
            Q(queries.waiting_in(Layer.AI_REVIEW)) | Q(queries.waiting_in(Layer.REVIEW))
        )
    locale = asked.given.get("locale")
    if asked.prompt == "translate-post" and locale:
        there = queries.visible_posts().filter(locale=locale)
        return posts.exclude(translation_group__in=there.values("translation_group"))
    return posts


def _id_begins(typed: str) -> Q:
    """Ids in their order stand between the lowest and the highest that begin so, on every database."""
    digits = typed.replace("-", "").lower()
    if not digits or len(digits) > _ID_DIGITS or not set(digits) <= set("0123456789abcdef"):
        return Q(pk__in=[])
    lowest, highest = (UUID(digits.ljust(_ID_DIGITS, end)) for end in "0f")
    return Q(pk__gte=lowest, pk__lte=highest)


def _as_id(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


_SOURCES: Final[Mapping[str, tuple[str, Callable[[Asked], tuple[list[str], int]]]]] = {
    POST: ("list_posts", _posts),
    POST_TYPE: ("list_post_types", _post_types),
    MODULE: ("list_modules", _modules),
    AGENT: ("list_agents", _agents),
    LOCALE: ("list_post_types", _locales),
}
"""For each kind of argument the tool that lists as much, which the caller must have, and what finds it."""
