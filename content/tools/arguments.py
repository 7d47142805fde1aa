"""Arguments shared by several tools: the post, the author, and the fields that can be staged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from django.conf import settings
from pydantic import BeforeValidator, Field

from content.document.document import AGENT_FIELD_NAMES, FIELD_NAMES
from content.layers.stage import require_layer
from content.models import Layer, Post
from content.store import post_queries
from content.store.document_edits import READ_ONLY
from content.store.layer_state import REASON_MAX
from content.store.post_addresses import REFERENCE_MAX, find_post_id
from content.store.scopes import post_not_found
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.accounts.services.agents import agent_user, is_switched_off, system_agent_user
from proofroom.core.actor import Actor
from proofroom.core.agent_directory import limits_of_agent
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments
from proofroom.core.tools.call import note_post
from proofroom.definitions import modules, post_types

_FINDERS: Final[Mapping[str, str]] = {
    "unknown_media": "search_media finds a file",
    "unknown_post": "list_posts finds a post",
    "unknown_term": "list_taxonomy_terms names the terms",
    "unknown_form": "list_registry_items names the forms",
}


def with_finder(error: RuleViolation) -> RuleViolation:
    """Return the error of a missing reference with the tool that finds valid ones; other errors unchanged."""
    finder = _FINDERS.get(error.code)
    path = next(iter(error.details), None)
    if finder is None or path is None:
        return error
    message = f"{error.message} {finder}; leave {path} out to keep what is there."
    return RuleViolation(message, code=error.code, details={**error.details, path: [message]})


def _text_of_id(value: object) -> object:
    """Return an id as text; code passes ids of posts as they are."""
    return str(value) if isinstance(value, UUID) else value


PostId = Annotated[str, BeforeValidator(_text_of_id), Field(min_length=1, max_length=REFERENCE_MAX)]
"""A reference to a post: its id, an address of the site, or `type/locale/slug`."""
PostReference = Annotated[
    PostId, Field(description="Its id, an address of the site or type/locale/slug.")
]
ModuleId = UUID
Markdown = Annotated[str, Field(max_length=200_000)]
Format = Literal["concise", "full"]


def _ids(value: object) -> object:
    return [str(item).lower() for item in value] if isinstance(value, list) else value


Ids = Annotated[list[str], BeforeValidator(_ids), Field(max_length=200)]
Props = dict[str, Any]


class OnPost(Arguments):
    post_id: PostId


class Proposal(Arguments):
    """Arguments of a staging tool: `agentId` selects the author, `note` is the reason shown in review."""

    agent_id: str | None = Field(None, max_length=80)
    note: str = Field("", max_length=REASON_MAX)


class Staging(OnPost, Proposal):
    """Arguments of a tool that stages in a post."""


_STAGEABLE: Final = (*(n for n in FIELD_NAMES if n in AGENT_FIELD_NAMES), "customFields")
_PEOPLE: Final = (READ_ONLY | frozenset(FIELD_NAMES) | {"status", "layer", "mode", "locked"}) - (
    AGENT_FIELD_NAMES
)


def hint(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?`, or an empty string if no known name is similar."""
    close = get_close_matches(name.lower(), list(known), 1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""


def require_module_type(name: str, field: str) -> None:
    """Raise `RuleViolation` on the argument `field` unless the module type exists."""
    if name not in modules:
        known = modules.names()
        message = (
            f"There is no module type {name[:80]!r}.{hint(name, known)} Known: {', '.join(known)}."
        )
        raise invalid(field, message, code="unknown_module")


def require_known_filters(type_: str | None, locale: str | None) -> None:
    """Raise `RuleViolation` for an unknown type or locale: a model would read an empty list as "there are none"."""
    known_names = {"type": post_types.names(), "locale": list(settings.CMS_ENV.locales)}
    filters = dict[str, str]()
    for name, value in (("type", type_), ("locale", locale)):
        known = known_names[name]
        if value is None:
            continue
        filters[name] = value
        if value not in known and not post_queries.listed_posts().filter(**filters).exists():
            what = "locale" if name == "locale" else "post type"
            raise invalid(
                name,
                f"There is no {what} {value!r}.{hint(value, known)} Known: {', '.join(known)}.",
            )


def require_stageable(patch: Mapping[str, object]) -> None:
    """Raise `RuleViolation` for fields that can't be staged. Unlike in the REST API, they are not ignored, because
    a patch is no document that the client read."""
    for name in patch:
        if name in (*_STAGEABLE, "taxonomyTermIds"):
            continue
        if name in _PEOPLE:
            message = (
                f"{name} cannot be staged. Agents propose content; "
                "people decide on status, layer, author, place and dates."
            )
            raise RuleViolation(message, code="not_stageable", details={name: [message]})
        if name == "modules":
            message = (
                "Modules are staged one by one: update_post_module_ai_review, "
                "add_module_to_post_ai_review, remove_post_module_ai_review."
            )
            raise invalid(name, message, code="unknown_field")
        known = ", ".join(_STAGEABLE)
        message = f"There is no post field {name[:80]!r}.{hint(name, _STAGEABLE)} Known: {known}."
        raise invalid(name[:80], message, code="unknown_field")


_FIND_ID: Final = " Call list_posts to find the id."


def require_post(reference: UUID | str, actor: Actor) -> Post:
    """Return the post that a reference means. Raises `NotFound`, with the tool to find it, if it is in the trash
    or not visible, and `RuleViolation` for an ambiguous address."""
    post_id = require_post_id(reference, actor)
    try:
        return post_queries.require_post(post_id, actor)
    except NotFound:
        raise unknown_post(post_id) from None


def require_post_id(reference: UUID | str, actor: Actor) -> UUID:
    """Return the id of the post that a reference means. An id itself is not looked up.

    All tools read their posts through this function, so that interfaces know which posts a call was about.
    """
    try:
        post_id = find_post_id(reference, actor)
    except NotFound as error:
        error.message += _FIND_ID
        raise
    note_post(post_id)
    return post_id


def unknown_post(post_id: UUID | str) -> NotFound:
    not_found = post_not_found(post_id)
    not_found.message += _FIND_ID
    return not_found


def resolve_author(actor: Actor, agent_id: str | None) -> Actor:
    """Return the actor that a staging tool writes as.

    That is the named agent's account, the system's AI user if this agent has no account, or the caller if none
    is named. An agent's own account always writes as that agent. Raises `NotAllowed` if the agent or its
    account is disabled, and if a run names another agent.
    """
    # The caller's own permission is checked first and their limits stay in effect, so naming an agent never
    # adds a permission.
    require_layer(actor, Layer.AI_REVIEW)
    if actor.run_id is not None:
        if agent_id and agent_id != actor.agent_id:
            raise NotAllowed(
                f"This run writes as its own agent, {actor.agent_id}; leave agentId out.",
                code="another_agent",
            )
        return actor
    if not agent_id:
        return _act_as(actor, actor.user)
    if is_switched_off(agent_id):
        raise NotAllowed(
            f"The agent {agent_id!r} or its account is turned off; nothing can be staged in its name. "
            "Leave agentId out to stage as this connection's own account.",
            code="agent_switched_off",
        )
    user = agent_user(agent_id)
    if user is not None:
        return replace(_with_account(actor, user, agent_id), names_agent=True)
    user = system_agent_user(settings.CMS_ENV.mcp_system_user_id)
    if user is None:
        raise NotAllowed(
            f"No account belongs to an agent {agent_id!r}, and no active system AI user stands in for it. "
            "Leave agentId out to stage as this connection's own account.",
            code="no_account",
        )
    return _act_as(actor, user)


def present_author(writer: Actor, agent_id: str | None) -> JsonObject:
    """Return the actual author if it is not the named agent."""
    if not agent_id or writer.agent_id == agent_id:
        return {}
    return {
        "author": writer.user.username,
        "note": f"No account belongs to an agent {agent_id!r}, so {writer.user.username} is the author. "
        "list_agents names the agents.",
    }


def _act_as(actor: Actor, user: object) -> Actor:
    if not isinstance(user, User):
        return actor
    is_agents = user.role == Role.AI_AGENT and bool(user.agent_id)
    return _with_account(actor, user, user.agent_id if is_agents else actor.agent_id)


def _with_account(actor: Actor, user: User, agent_id: str | None) -> Actor:
    """Return the actor in the user's name, with the limits of both the caller and the agent."""
    limits = limits_of_agent(agent_id) if agent_id else []
    if user == actor.user and not limits:
        return replace(actor, agent_id=agent_id)
    return actor.as_account(user, agent_id=agent_id, limits=limits)
