"""Tools for global modules, which several posts share."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from content.models import ModuleInstance
from content.store.global_module_queries import affected_posts, find_global, globals_list
from content.tools.arguments import hint, require_module_type
from content.tools.rich_text import present_value, tool_input_schema
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject, format_time
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page_after
from proofroom.definitions import modules

_NAMED = 50
"""Number of slugs searched for a suggestion in the error."""


class Globals(Paged):
    q: str | None = Field(None, max_length=200)
    type: str | None = Field(None, max_length=80)


class OneOfGlobals(Arguments):
    global_slug: str = Field(max_length=100)


class ListedGlobal(Result):
    global_slug: str
    type: str
    label: str
    usage_count: int
    updated_at: str
    id: str | None = None
    version: int | None = None
    props: dict[str, Any] | None = None


class GlobalPage(ToolPage):
    items: list[ListedGlobal]


class OneGlobal(ListedGlobal):
    module_schema: dict[str, Any] | None = Field(None, alias="schema")


@tool(
    title="Global modules",
    kind="read",
    permission="posts.view",
    group="context",
    result=GlobalPage,
)
def list_global_modules(actor: Actor, arguments: Globals) -> JsonObject:
    """List modules that posts share by slug, with the number of posts."""
    rows = globals_list(arguments.q or "", arguments.type or "")
    if arguments.type and not rows.exists():
        require_module_type(arguments.type, "type")

    def listed(part: list[ModuleInstance]) -> list[JsonObject]:
        return [_global(row, row.affected, arguments.is_full) for row in part]  # type: ignore[attr-defined]  # annotated

    return page_after(arguments, "list_global_modules", rows, ("global_slug",), listed)


@tool(
    title="Global module",
    kind="read",
    permission="posts.view",
    group="context",
    result=OneGlobal,
)
def get_global_module(actor: Actor, arguments: OneOfGlobals) -> JsonObject:
    """A shared module with props and schema. Agents place it with globalSlug; people edit it."""
    try:
        row = find_global(arguments.global_slug)
    except NotFound as error:
        known = [str(row.global_slug) for row in globals_list()[:_NAMED]]
        guess = hint(arguments.global_slug, known)
        error.message += f"{guess} Call list_global_modules for the slugs."
        raise
    wire = _global(row, affected_posts(row), full=True)
    definition = modules.get(row.type)
    if definition is not None:
        wire["schema"] = {
            "type": row.type,
            "propsSchema": tool_input_schema(definition.props_schema()),
            "defaultProps": present_value(definition.default_props(), full=False),
        }
    return wire


def _global(row: ModuleInstance, affected: int, full: bool) -> JsonObject:
    wire: JsonObject = {
        "globalSlug": row.global_slug,
        "type": row.type,
        "label": row.label,
        "usageCount": affected,
        "updatedAt": format_time(row.updated_at),
    }
    if full:
        props = present_value(dict(row.props), full=False)
        wire |= {"id": str(row.pk), "version": row.version, "props": props}
    return wire
