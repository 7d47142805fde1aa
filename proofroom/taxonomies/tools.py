"""MCP tools that read taxonomies and their terms."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic import Field

from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page
from proofroom.core.validation.limits import LOCALE_MAX
from proofroom.definitions import Taxonomy, find_taxonomy, taxonomies
from proofroom.taxonomies.models import Term


class ListedTaxonomy(Result):
    slug: str
    name: str
    hierarchical: bool
    free_tagging: bool
    description: str | None = None


class TaxonomyPage(ToolPage):
    items: list[ListedTaxonomy]


class ListedTerm(Result):
    id: str
    slug: str
    name: str
    children: list[Any]
    locale: str | None = None
    order_index: int | None = None
    description: str | None = None


class TermPage(ToolPage):
    items: list[ListedTerm]


class OfTaxonomy(Paged):
    slug: str = Field(max_length=80)
    locale: str | None = Field(None, max_length=LOCALE_MAX)


@tool(
    title="Taxonomies",
    kind="read",
    permission="posts.view",
    group="taxonomies",
    result=TaxonomyPage,
)
def list_taxonomies(actor: Actor, arguments: Paged) -> JsonObject:
    """List the taxonomies of posts; list_taxonomy_terms has their terms."""
    present = partial(_taxonomy, full=arguments.is_full)
    return page(arguments, "list_taxonomies", list(taxonomies), present)


def _taxonomy(row: type[Taxonomy], full: bool) -> JsonObject:
    wire: JsonObject = {
        "slug": row.name,
        "name": row.label,
        "hierarchical": row.hierarchical,
        "freeTagging": row.free_tagging,
    }
    return {**wire, "description": row.description} if full else wire


@tool(
    title="Taxonomy terms",
    kind="read",
    permission="posts.view",
    group="taxonomies",
    result=TermPage,
)
def list_taxonomy_terms(actor: Actor, arguments: OfTaxonomy) -> JsonObject:
    """List a taxonomy's terms as trees, paged by their roots; the ids are what taxonomyTermIds takes."""
    terms = Term.objects.filter(taxonomy=arguments.slug)
    if not terms.exists():  # terms stay after their taxonomy is removed from code
        find_taxonomy(arguments.slug)
    if arguments.locale:
        terms = terms.filter(locale__in=["", arguments.locale])
    nodes: dict[object, JsonObject] = {}
    roots: list[JsonObject] = []
    rows = list(terms.order_by("order_index", "name", "id"))
    for row in rows:
        node: JsonObject = {"id": str(row.pk), "slug": row.slug, "name": row.name, "children": []}
        # With terms of several languages, an agent needs to know which of them a post can take.
        if arguments.is_full or (row.locale and not arguments.locale):
            node["locale"] = row.locale
        if arguments.is_full:
            node["orderIndex"] = row.order_index
            node["description"] = row.description
        nodes[row.pk] = node
    for row in rows:
        siblings = nodes[row.parent_id]["children"] if row.parent_id in nodes else roots
        siblings.append(nodes[row.pk])  # type: ignore[union-attr]  # children is a list
    return page(arguments, "list_taxonomy_terms", roots, lambda root: root)
