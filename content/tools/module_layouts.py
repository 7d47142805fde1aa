"""Tools for module groups, the layout templates, and layout suggestions."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from content.modules.suggestions import known_roles, suggest
from content.store.module_group_queries import ModuleGroupInfo, all_groups, find_group
from content.tools.arguments import require_module_type
from content.tools.definitions import MaybeOfPostType
from content.tools.rich_text import present_value
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.pagination import ToolPage, page
from proofroom.definitions import find_post_type


class Groups(MaybeOfPostType):
    q: str | None = Field(None, max_length=200)


class OneGroup(Arguments):
    module_group_id: UUID | None = None
    name: str | None = Field(None, max_length=80)


class GroupPlaceResult(Result):
    type: str
    order_index: int
    locked: bool
    scope: str | None = None
    default_props: dict[str, Any] | None = None
    global_slug: str | None = None


class ListedGroup(Result):
    id: str
    name: str
    post_type: str
    description: str
    modules: list[GroupPlaceResult]
    label: str | None = None
    source: str | None = None


class GroupPage(ToolPage):
    items: list[ListedGroup]


@tool(
    title="Module groups",
    kind="read",
    permission="posts.view",
    group="context",
    result=GroupPage,
)
def list_module_groups(actor: Actor, arguments: Groups) -> JsonObject:
    """Layout templates: a new post's modules, some of them locked."""
    if arguments.post_type is not None:
        find_post_type(arguments.post_type)
    rows = all_groups(arguments.post_type, arguments.q or "")
    return page(arguments, "list_module_groups", rows, partial(_group, full=arguments.is_full))


@tool(
    title="Module group",
    kind="read",
    permission="posts.view",
    group="context",
    result=ListedGroup,
)
def get_module_group(actor: Actor, arguments: OneGroup) -> JsonObject:
    """One layout template by moduleGroupId or name: its modules with default props."""
    found = []
    lookups = {"moduleGroupId": arguments.module_group_id, "name": arguments.name}
    for field, wanted in lookups.items():
        if wanted is None:
            continue
        try:
            found.append(find_group(wanted))
        except RuleViolation as error:
            raise invalid(field, error.message, code=error.code) from None
    if not found:
        raise invalid("name", "Send moduleGroupId or name. Call list_module_groups to find one.")
    if found[0] != found[-1]:
        message = (
            f"moduleGroupId is that of {found[0].name!r}, name another group. Send one of them."
        )
        raise invalid("name", message)
    return _group(found[0], full=True)


def _group(row: ModuleGroupInfo, full: bool) -> JsonObject:
    places: list[Json] = []
    for index, place in enumerate(row.modules):
        item: JsonObject = {"type": place.type, "orderIndex": index, "locked": place.locked}
        if full:
            # The props of a new module; the stored ones if they no longer fit the definition.
            try:
                props = place.full_props()
            except RuleViolation:
                props = dict(place.props)
            item |= {"scope": place.scope, "defaultProps": present_value(props, full=False)}
            if place.global_slug is not None:
                item["globalSlug"] = place.global_slug
        places.append(item)
    wire: JsonObject = {
        "id": str(row.id),
        "name": row.name,
        "postType": row.post_type,
        "description": row.description,
        "modules": places,
    }
    if full:
        wire |= {"label": row.label, "source": "code" if row.is_code else "stored"}
    return wire


Role = Annotated[str, Field(min_length=1, max_length=80)]


class Suggest(Arguments):
    post_type: str = Field(max_length=80)
    roles: list[Role] = Field([], max_length=20, description="Such as opening, body, closing.")
    brief: str | None = Field(None, max_length=5_000)
    exclude: list[str] = Field([], max_length=100)
    max_per_role: int = Field(3, ge=1, le=20, strict=True)


class Candidate(Result):
    type: str
    why: str
    avoid_when: list[str]


class RoleCandidates(Result):
    role: str
    candidates: list[Candidate]


class LayoutSuggestion(Result):
    roles: list[RoleCandidates]
    missing_roles: list[str]
    recommended_order: list[str]
    known_roles: list[str] | None = None


@tool(
    title="Suggest modules",
    kind="read",
    permission="posts.view",
    group="layout",
    result=LayoutSuggestion,
)
def suggest_modules_for_layout(actor: Actor, arguments: Suggest) -> JsonObject:
    """Suggest modules for named layout roles, or for roles matching a brief's words; otherwise all roles."""
    for name in arguments.exclude:
        require_module_type(name, "exclude")
    layout = suggest(
        arguments.post_type,
        roles=arguments.roles,
        brief=arguments.brief or "",
        exclude=arguments.exclude,
        most=arguments.max_per_role,
    )
    answer: JsonObject = {
        "roles": [
            {
                "role": role,
                "candidates": [
                    {
                        "type": item.module.name,
                        "why": item.why,
                        "avoidWhen": list(item.module.ai.avoid_when),
                    }
                    for item in candidates
                ],
            }
            for role, candidates in layout.roles.items()
        ],
        "missingRoles": list(layout.missing),
        "recommendedOrder": list(layout.order),
    }
    known = known_roles()
    if any(role not in known for role in layout.missing):
        answer["knownRoles"] = list(known)
    return answer
