"""Module groups, the layout templates."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from pydantic import Field

from content.module_layouts.queries import ModuleGroupInfo, all_groups, find_group
from content.tools.definition_results import GroupPage, ListedGroup
from content.tools.definitions import MaybeOfPostType
from content.tools.rich_text import present_value
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, tool
from proofroom.core.tools.pagination import page
from proofroom.definitions import GroupModule, find_post_type


class Groups(MaybeOfPostType):
    q: str | None = Field(None, max_length=200)


class OneGroup(Arguments):
    module_group_id: UUID | None = None
    name: str | None = Field(None, max_length=80)


@tool(
    title="Module groups",
    kind="read",
    permission="posts.view",
    arguments=Groups,
    group="context",
    result=GroupPage,
)
def list_module_groups(actor: Actor, arguments: Groups) -> JsonObject:
    """Layout templates: the modules a new post starts with, some of them locked."""
    if arguments.post_type is not None:
        find_post_type(arguments.post_type)
    rows = all_groups(arguments.post_type, arguments.q or "")
    return page(arguments, "list_module_groups", rows, partial(_group, full=arguments.is_full))


@tool(
    title="Module group",
    kind="read",
    permission="posts.view",
    arguments=OneGroup,
    group="context",
    result=ListedGroup,
)
def get_module_group(actor: Actor, arguments: OneGroup) -> JsonObject:
    """One layout template by moduleGroupId or name: its modules with the props they start with."""
    found = [
        _found(field, wanted)
        for field, wanted in (
            ("moduleGroupId", arguments.module_group_id),
            ("name", arguments.name),
        )
        if wanted is not None
    ]
    if not found:
        raise invalid("name", "Send moduleGroupId or name. Call list_module_groups to find one.")
    if found[0] != found[-1]:
        message = (
            f"moduleGroupId is that of {found[0].name!r}, name another group. Send one of them."
        )
        raise invalid("name", message)
    return _group(found[0], full=True)


def _found(field: str, wanted: UUID | str) -> ModuleGroupInfo:
    try:
        return find_group(wanted)
    except RuleViolation as error:
        raise invalid(field, error.message, code=error.code) from None


def _group(row: ModuleGroupInfo, full: bool) -> JsonObject:
    wire: JsonObject = {
        "id": str(row.id),
        "name": row.name,
        "postType": row.post_type,
        "description": row.description,
        "modules": [_place(place, index, full) for index, place in enumerate(row.modules)],
    }
    if full:
        wire |= {"label": row.label, "source": "code" if row.is_code else "stored"}
    return wire


def _place(place: GroupModule, index: int, full: bool) -> JsonObject:
    wire: JsonObject = {"type": place.type, "orderIndex": index, "locked": place.locked}
    if full:
        wire |= {
            "scope": place.scope,
            "defaultProps": present_value(_start_props(place), full=False),
        }
        if place.global_slug is not None:
            wire["globalSlug"] = place.global_slug
    return wire


def _start_props(place: GroupModule) -> JsonObject:
    """Return what a module made here starts with; as it was written where the definition has moved on since."""
    try:
        return place.full_props()
    except RuleViolation:
        return dict(place.props)
