"""Tools that list post types and modules."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from pydantic import Field

from content.store.module_group_queries import ModuleGroupInfo, all_groups
from content.store.post_paths import patterns_of
from content.store.post_queries import posts_with_module
from content.tools.arguments import require_module_type
from content.tools.rich_text import present_value, tool_input_schema
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page
from proofroom.definitions import (
    Module,
    PostType,
    allowed_modules,
    exclusion_reason,
    find_module,
    find_post_type,
    modules,
    post_types,
    props_of,
)
from proofroom.definitions.step import describe_steps


class OfPostType(Arguments):
    post_type: str = Field(max_length=80)


class MaybeOfPostType(Paged):
    post_type: str | None = Field(None, max_length=80)


class ModulesOfPostType(Paged):
    post_type: str = Field(max_length=80)


class OfType(Arguments):
    type: str = Field(max_length=80)


class OfModule(Arguments):
    module_slug: str = Field(max_length=80)


class StepAsked(Result):
    kind: str
    name: str
    quorum: int


class TypeStep(Result):
    """`due`: time from the opening of the step to its due date, as an ISO 8601 duration."""

    name: str
    asks: StepAsked
    due: str | None = None


class ListedType(Result):
    slug: str
    name: str
    hierarchical: bool
    localized: bool
    module_groups: list[str]
    description: str | None = None
    url_pattern: str | None = None
    default_module_group: str | None = None
    steps: list[TypeStep] | None = None


class TypePage(ToolPage):
    items: list[ListedType]


class UsedTaxonomy(Result):
    slug: str
    max_selections: int | None = None


class NamedGroup(Result):
    id: str
    name: str
    description: str


class TypeConfig(Result):
    slug: str
    name: str
    hierarchical: bool
    localized: bool
    custom_fields: dict[str, Any]
    taxonomies: list[UsedTaxonomy]
    seo_defaults: dict[str, Any]
    url_patterns: list[str]
    allowed_modules: list[str]
    module_groups: list[NamedGroup]
    default_module_group: str | None = None
    steps: list[TypeStep] | None = None


class ListedModule(Result):
    type: str
    name: str
    description: str
    allowed_scopes: list[str]
    ai_guidance: dict[str, Any]
    icon: str | None = None
    allowed_post_types: list[str] | None = None


class ModulePage(ToolPage):
    items: list[ListedModule]


class ExcludedModule(Result):
    type: str
    why: str


class AllowedModules(ModulePage):
    excluded: list[ExcludedModule]


class ModuleSchema(Result):
    type: str
    props_schema: dict[str, Any]
    default_props: dict[str, Any]
    ai_guidance: dict[str, Any]
    allowed_scopes: list[str]
    allowed_post_types: list[str]


class InspectedModule(ModuleSchema):
    """`usageCount`: posts that show one, without drafts."""

    field_types: dict[str, str]
    template: str
    defined_in: str
    usage_count: int


@tool(title="Post types", kind="read", permission="posts.view", group="context", result=TypePage)
def list_post_types(actor: Actor, arguments: Paged) -> JsonObject:
    """List post types, each with the names of its module groups."""
    present = partial(_post_type, groups=all_groups(), full=arguments.is_full)
    return page(arguments, "list_post_types", list(post_types), present)


def _post_type(
    row: type[PostType], groups: list[ModuleGroupInfo], full: bool = False
) -> JsonObject:
    wire: JsonObject = {
        "slug": row.name,
        "name": row.label,
        "hierarchical": row.hierarchical,
        "localized": row.localized,
        "moduleGroups": [group.name for group in groups if group.post_type == row.name],
    }
    if full:
        wire |= {"description": row.description, "urlPattern": row.url_pattern}
        wire |= _default_group(row)
    return wire | _steps(row)


def _default_group(row: type[PostType]) -> JsonObject:
    name = row.default_module_group
    return {} if name is None else {"defaultModuleGroup": name}


def _steps(row: type[PostType]) -> JsonObject:
    return {"steps": describe_steps(row.steps)} if row.steps else {}


@tool(title="Post type", kind="read", permission="posts.view", group="context", result=TypeConfig)
def get_post_type_config(actor: Actor, arguments: OfPostType) -> JsonObject:
    """Fields, taxonomies with maxSelections, SEO defaults, allowed modules, module groups and steps of a type."""
    found = find_post_type(arguments.post_type)
    groups = all_groups(found.name)
    defaults = cast("JsonObject", found.seo())
    return {
        **_post_type(found, groups),
        "customFields": found.custom_fields_schema(),
        "taxonomies": [
            {"slug": use.slug}
            | ({} if use.max_selections is None else {"maxSelections": use.max_selections})
            for use in found.taxonomies
        ],
        "seoDefaults": {name: value for name, value in defaults.items() if value is not None},
        "urlPatterns": [*patterns_of(found.name)],
        "allowedModules": [module.name for module in allowed_modules(found.name)],
        "moduleGroups": [
            {"id": str(group.id), "name": group.name, "description": group.description}
            for group in groups
        ],
        **_default_group(found),
    }


@tool(title="Modules", kind="read", permission="posts.view", group="context", result=ModulePage)
def list_modules(actor: Actor, arguments: MaybeOfPostType) -> JsonObject:
    """List module types and when to use each; with postType only allowed ones."""
    rows = allowed_modules(arguments.post_type) if arguments.post_type else list(modules)
    return page(arguments, "list_modules", rows, partial(_module, full=arguments.is_full))


def _module(row: type[Module], full: bool = False) -> JsonObject:
    # Composition notes explain how to fill a module, which get_module_schema returns. Omitting them here
    # saves context.
    guidance = row.ai.as_json()
    if not full:
        del guidance["compositionNotes"]
    wire: JsonObject = {
        "type": row.name,
        "name": row.label,
        "description": row.description,
        "allowedScopes": list(row.allowed_scopes),
        "aiGuidance": guidance,
    }
    if full:
        wire |= {"icon": row.icon, "allowedPostTypes": list(row.allowed_post_types)}
    return wire


@tool(
    title="Allowed modules",
    kind="read",
    permission="posts.view",
    group="context",
    result=AllowedModules,
)
def get_allowed_modules_for_post_type(actor: Actor, arguments: ModulesOfPostType) -> JsonObject:
    """List modules a post type allows, as list_modules does, and why others are excluded."""
    find_post_type(arguments.post_type)
    excluded = {row.name: exclusion_reason(arguments.post_type, row.name) for row in modules}
    rows = [row for row in modules if excluded[row.name] is None]
    listed = page(
        arguments,
        "get_allowed_modules_for_post_type",
        rows,
        partial(_module, full=arguments.is_full),
    )
    why: list[Json] = [{"type": name, "why": why} for name, why in excluded.items() if why]
    return {**listed, "excluded": why}


@tool(
    title="Module schema",
    kind="read",
    permission="posts.view",
    group="context",
    result=ModuleSchema,
)
def get_module_schema(actor: Actor, arguments: OfType) -> JsonObject:
    """The props of a module type as JSON Schema, with defaults and guidance."""
    require_module_type(arguments.type, "type")
    return _schema(find_module(arguments.type))


def _schema(found: type[Module]) -> JsonObject:
    return {
        "type": found.name,
        "propsSchema": tool_input_schema(found.props_schema()),
        "defaultProps": present_value(found.default_props(), full=False),
        "aiGuidance": found.ai.as_json(),
        "allowedScopes": list(found.allowed_scopes),
        "allowedPostTypes": list(found.allowed_post_types),
    }


@tool(
    title="Module definition",
    kind="read",
    permission="posts.view",
    group="context",
    result=InspectedModule,
)
def inspect_module_definition(actor: Actor, arguments: OfModule) -> JsonObject:
    """Everything about a module type: get_module_schema plus field types, template, defining code and
    number of posts."""
    require_module_type(arguments.module_slug, "moduleSlug")
    found = find_module(arguments.module_slug)
    return {
        **_schema(found),
        "fieldTypes": {name: prop.kind for name, prop in props_of(found.Props).items()},
        "template": found.template(),
        "definedIn": found.__module__,
        "usageCount": posts_with_module(found.name),
    }
