"""What a post may be made of: post types, module groups, modules, taxonomies."""

from __future__ import annotations

from functools import partial

from pydantic import Field

from content.definitions import (
    Module,
    PostType,
    Taxonomy,
    allowed_modules,
    find_module,
    find_post_type,
    find_taxonomy,
    modules,
    post_types,
    taxonomies,
    why_excluded,
)
from content.models import Term
from content.module_group_queries import Group, all_groups
from content.paths import patterns_of
from content.tools.names import require_module_type
from content.tools.results import ModulePage, TypePage
from core.actor import Actor
from core.json import JsonObject
from core.tool_pages import Paged, page
from core.tools import Arguments, tool


class OfPostType(Arguments):
    post_type: str = Field(max_length=80)


class MaybeOfPostType(Paged):
    post_type: str | None = Field(None, max_length=80)


class OfType(Arguments):
    type: str = Field(max_length=80)


class Groups(MaybeOfPostType):
    q: str | None = Field(None, max_length=200)


class OfTaxonomy(Arguments):
    slug: str = Field(max_length=80, description="Slug of a taxonomy.")
    locale: str | None = Field(None, max_length=12)


@tool(
    title="Post types",
    kind="read",
    permission="posts.view",
    arguments=Paged,
    group="context",
    result=TypePage,
)
def list_post_types(actor: Actor, arguments: Paged) -> JsonObject:
    """The post types of this site, each with its module groups."""
    rows, groups = list(post_types), all_groups()
    return page(
        rows,
        partial(_post_type, groups=groups),
        total=len(rows),
        limit=arguments.limit,
        cursor=arguments.cursor,
    )


def _post_type(row: type[PostType], groups: list[Group]) -> JsonObject:
    return {
        "slug": row.name,
        "name": row.label,
        "hierarchical": row.hierarchical,
        "localized": row.localized,
        "moduleGroups": [group.name for group in groups if group.post_type == row.name],
    }


@tool(
    title="Post type", kind="read", permission="posts.view", arguments=OfPostType, group="context"
)
def get_post_type_config(actor: Actor, arguments: OfPostType) -> JsonObject:
    """Fields, taxonomies with maxSelections, SEO defaults, allowed modules and module groups of a post type."""
    found = find_post_type(arguments.post_type)
    groups = all_groups(found.name)
    return {
        **_post_type(found, groups),
        "customFields": found.custom_fields_schema(),
        "taxonomies": [
            {"slug": use.slug, "maxSelections": use.max_selections} for use in found.taxonomies
        ],
        "seoDefaults": found.seo(),  # type: ignore[dict-item]  # a TypedDict of JSON
        "urlPatterns": [*patterns_of(found.name)],
        "allowedModules": [module.name for module in allowed_modules(found.name)],
        "moduleGroups": [
            {"id": str(group.id), "name": group.name, "description": group.description}
            for group in groups
        ],
        "defaultModuleGroup": found.default_module_group,
    }


@tool(
    title="Modules",
    kind="read",
    permission="posts.view",
    arguments=MaybeOfPostType,
    group="context",
    result=ModulePage,
)
def list_modules(actor: Actor, arguments: MaybeOfPostType) -> JsonObject:
    """Module types that posts are made of, with when to use each. Give postType for those it allows."""
    rows = allowed_modules(arguments.post_type) if arguments.post_type else list(modules)
    return page(rows, _module, total=len(rows), limit=arguments.limit, cursor=arguments.cursor)


def _module(row: type[Module]) -> JsonObject:
    return {
        "type": row.name,
        "name": row.label,
        "description": row.description,
        "allowedScopes": list(row.allowed_scopes),
        "aiGuidance": row.ai.as_json(),
    }


@tool(
    title="Allowed modules",
    kind="read",
    permission="posts.view",
    arguments=OfPostType,
    group="context",
)
def get_allowed_modules_for_post_type(actor: Actor, arguments: OfPostType) -> JsonObject:
    """The modules a post type allows, and why each other one is excluded."""
    find_post_type(arguments.post_type)
    excluded = {row.name: why_excluded(arguments.post_type, row.name) for row in modules}
    return {
        "allowed": [_module(row) for row in modules if excluded[row.name] is None],
        "excluded": [{"type": name, "why": why} for name, why in excluded.items() if why],
    }


@tool(
    title="Module schema", kind="read", permission="posts.view", arguments=OfType, group="context"
)
def get_module_schema(actor: Actor, arguments: OfType) -> JsonObject:
    """The props of a module type as JSON Schema, with defaults and guidance."""
    require_module_type(arguments.type, "type")
    found = find_module(arguments.type)
    return {
        "type": found.name,
        "propsSchema": found.props_schema(),
        "defaultProps": found.default_props(),
        "aiGuidance": found.ai.as_json(),
        "allowedScopes": list(found.allowed_scopes),
        "allowedPostTypes": list(found.allowed_post_types),
    }


@tool(
    title="Module groups",
    kind="read",
    permission="posts.view",
    arguments=Groups,
    group="context",
)
def list_module_groups(actor: Actor, arguments: Groups) -> JsonObject:
    """Layout templates: the modules a new post starts with, some of them locked."""
    if arguments.post_type is not None:
        find_post_type(arguments.post_type)
    rows = all_groups(arguments.post_type, arguments.q or "")
    return page(rows, _group, total=len(rows), limit=arguments.limit, cursor=arguments.cursor)


def _group(row: Group) -> JsonObject:
    return {
        "id": str(row.id),
        "name": row.name,
        "postType": row.post_type,
        "description": row.description,
        "modules": [
            {"type": place.type, "orderIndex": index, "locked": place.locked}
            for index, place in enumerate(row.modules)
        ],
    }


@tool(
    title="Taxonomies",
    kind="read",
    permission="posts.view",
    arguments=Paged,
    group="taxonomies",
)
def list_taxonomies(actor: Actor, arguments: Paged) -> JsonObject:
    """The taxonomies that posts are sorted by."""
    rows = list(taxonomies)
    return page(rows, _taxonomy, total=len(rows), limit=arguments.limit, cursor=arguments.cursor)


def _taxonomy(row: type[Taxonomy]) -> JsonObject:
    return {
        "slug": row.name,
        "name": row.label,
        "hierarchical": row.hierarchical,
        "freeTagging": row.free_tagging,
    }


@tool(
    title="Taxonomy terms",
    kind="read",
    permission="posts.view",
    arguments=OfTaxonomy,
    group="taxonomies",
)
def list_taxonomy_terms(actor: Actor, arguments: OfTaxonomy) -> JsonObject:
    """The terms of a taxonomy as a tree; their ids are what taxonomyTermIds takes."""
    terms = Term.objects.filter(taxonomy=arguments.slug)
    if not terms.exists():  # terms that outlived their taxonomy still list
        find_taxonomy(arguments.slug)
    if arguments.locale:
        terms = terms.filter(locale__in=["", arguments.locale])
    nodes: dict[object, JsonObject] = {}
    roots: list[JsonObject] = []
    rows = list(terms)
    for row in rows:
        nodes[row.pk] = {"id": str(row.pk), "slug": row.slug, "name": row.name, "children": []}
    for row in rows:
        siblings = nodes[row.parent_id]["children"] if row.parent_id in nodes else roots
        siblings.append(nodes[row.pk])  # type: ignore[union-attr]  # children is a list
    return {"items": roots, "total": len(rows)}
