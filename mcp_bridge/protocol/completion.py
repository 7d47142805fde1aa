"""Completion of the arguments of prompts, and of the variables in resource URIs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import mcp.types as wire
from django.conf import settings
from django.db.models import Q
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from agents_app.definitions.agents import all_agents, only_enabled
from content.models import Layer
from content.store import post_queries
from content.store.scopes import visible_to
from mcp_bridge.access.principals import Principal, actor_for, may_use
from mcp_bridge.access.rate_limits import Hit, count_call
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.protocol.prompts import (
    AGENT,
    LOCALE,
    MODULE,
    POST,
    POST_TYPE,
    find_prompt,
    require_argument,
)
from mcp_bridge.protocol.resources import find_template
from mcp_bridge.worker_threads import Workers
from proofroom.core.actor import Actor
from proofroom.core.caching.redis_cache import count_hit
from proofroom.core.errors import CmsError
from proofroom.core.tools import get_tool
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import modules, post_types

Context = ServerRequestContext[Any, Any]
MAX_VALUES: Final = 100
_MAX_TYPED_LENGTH: Final = 200
_ID_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The actor, the text typed so far, and the other arguments. `prompt` is empty for a resource."""

    actor: Actor
    typed: str
    prompt: str = ""
    given: Mapping[str, str] = field(default_factory=dict)


def handler(
    workers: Workers, principal_of: Callable[[Context], Principal], access: ServerAccess
) -> Callable[..., Any]:
    """Return the handler. It lists only what the caller's own tools would list, and counts as a call."""

    async def complete(ctx: Context, params: wire.CompleteRequestParams) -> wire.CompleteResult:
        return await workers.run(complete_argument, principal_of(ctx), params, access.counts.count)

    return complete


def complete_argument(
    principal: Principal, params: wire.CompleteRequestParams, hit: Hit = count_hit
) -> wire.CompleteResult:
    name = params.argument.name
    if isinstance(params.ref, wire.PromptReference):
        asked_prompt = find_prompt(params.ref.name)
        require_argument(asked_prompt, name)
        kind = asked_prompt.arguments[name].kind
    else:
        template = find_template(params.ref.uri)
        if name != template.variable:
            message = f"{template.uri} has no {name[:100]!r}; it has {template.variable!r}."
            raise MCPError(wire.INVALID_PARAMS, message)
        kind = template.kind
    given = (params.context.arguments if params.context else None) or {}
    prompt = params.ref.name if isinstance(params.ref, wire.PromptReference) else ""
    try:
        count_call(principal, hit=hit)
        actor = actor_for(principal)
        request = CompletionRequest(actor, params.argument.value, prompt, given)
        tool_name, find = _SOURCES.get(kind, ("", None))
        tool = get_tool(tool_name)
        values: list[str] = []
        total = 0
        may_list = tool is not None and may_use(principal, actor, tool)
        if find is not None and may_list and len(request.typed) <= _MAX_TYPED_LENGTH:
            reject_unstorable({"value": request.typed, "arguments": dict(request.given)})
            values, total = find(request)
    except CmsError as error:
        raise MCPError(wire.INVALID_PARAMS, error.message) from error
    completion = wire.Completion(values=values, total=total, has_more=total > len(values))
    return wire.CompleteResult(completion=completion)


def _matches(known: list[str], asked: CompletionRequest) -> tuple[list[str], int]:
    """Return the names that start with the typed text, then others that contain it."""
    typed = asked.typed.strip().lower()
    found = [name for name in known if typed in name.lower()]
    found.sort(key=lambda name: not name.lower().startswith(typed))
    return found[:MAX_VALUES], len(found)


def _locales(asked: CompletionRequest) -> tuple[list[str], int]:
    """Return matching locales; for a translation only ones the post does not have yet."""
    existing: set[str] = set()
    post_id: UUID | None = None
    with suppress(ValueError):
        post_id = UUID(asked.given.get("postId", ""))
    if asked.prompt == "translate-post" and post_id is not None:
        seen = visible_to(post_queries.listed_posts(), asked.actor)
        group = seen.filter(pk=post_id).values("translation_group")
        translations = seen.filter(translation_group__in=group)
        existing = set(translations.values_list("locale", flat=True))
    return _matches([name for name in settings.CMS_ENV.locales if name not in existing], asked)


def _posts(asked: CompletionRequest) -> tuple[list[str], int]:
    """Return ids of posts by title, slug or start of the id, latest change first."""
    posts = visible_to(post_queries.listed_posts(), asked.actor)
    locale = asked.given.get("locale")
    if asked.prompt == "review-changes":
        posts = posts.filter(
            Q(post_queries.has_changes_in(Layer.AI_REVIEW))
            | Q(post_queries.has_changes_in(Layer.REVIEW))
        )
    elif asked.prompt == "translate-post" and locale:
        translated = posts.filter(locale=locale)
        posts = posts.exclude(translation_group__in=translated.values("translation_group"))
    typed = asked.typed.strip()
    if typed:
        matches = Q(title__icontains=typed) | Q(slug__icontains=typed)
        digits = typed.replace("-", "").lower()
        if digits and len(digits) <= _ID_DIGITS and set(digits) <= set("0123456789abcdef"):
            # On every database the ids with this prefix are sorted between these two.
            lowest, highest = (UUID(digits.ljust(_ID_DIGITS, end)) for end in "0f")
            matches |= Q(pk__gte=lowest, pk__lte=highest)
        posts = posts.filter(matches)
    ids = post_queries.order_posts(posts, "-updatedAt").values_list("pk", flat=True)[
        : MAX_VALUES + 1
    ]
    found = [str(pk) for pk in ids]
    return found[:MAX_VALUES], posts.count() if len(found) > MAX_VALUES else len(found)


_SOURCES: Final[Mapping[str, tuple[str, Callable[[CompletionRequest], tuple[list[str], int]]]]] = {
    POST: ("list_posts", _posts),
    POST_TYPE: ("list_post_types", lambda asked: _matches(list(post_types.names()), asked)),
    MODULE: ("list_modules", lambda asked: _matches(list(modules.names()), asked)),
    AGENT: (
        "list_agents",
        lambda asked: _matches([agent.id for agent in only_enabled(all_agents())], asked),
    ),
    LOCALE: ("list_post_types", _locales),
}
"""For each kind of argument: the tool that lists the same, which the caller must be allowed to use,
and the search.
"""
