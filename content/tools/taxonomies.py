"""Taxonomies, their terms, and those of a post."""

from __future__ import annotations

from functools import partial
from typing import Literal

from pydantic import Field

from content.layers import open_layers
from content.models import Layer, Term
from content.tools.arguments import OnPost
from content.tools.definition_results import TaxonomyPage, TermPage
from content.tools.read_post import require_post
from content.tools.reading_results import TermIds
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.tools import tool
from proofroom.core.tools.pagination import Paged, page
from proofroom.definitions import Taxonomy, find_taxonomy, taxonomies


class OfTaxonomy(Paged):
    slug: str = Field(max_length=80)
    locale: str | None = Field(None, max_length=12)


class TermsOfPost(OnPost):
    layer: Literal["source", "review", "ai-review"] = "ai-review"


@tool(
    title="Taxonomies",
    kind="read",
    permission="posts.view",
    group="taxonomies",
    result=TaxonomyPage,
)
def list_taxonomies(actor: Actor, arguments: Paged) -> JsonObject:
    """The taxonomies that posts are sorted by; list_taxonomy_terms has their terms."""
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
    """Terms of a taxonomy as trees, paged by their roots; the ids are what taxonomyTermIds takes."""
    terms = Term.objects.filter(taxonomy=arguments.slug)
    if not terms.exists():  # terms that outlived their taxonomy still list
        find_taxonomy(arguments.slug)
    if arguments.locale:
        terms = terms.filter(locale__in=["", arguments.locale])
    nodes: dict[object, JsonObject] = {}
    roots: list[JsonObject] = []
    rows = list(terms.order_by("order_index", "name", "id"))
    for row in rows:
        nodes[row.pk] = _term(row, arguments)
    for row in rows:
        siblings = nodes[row.parent_id]["children"] if row.parent_id in nodes else roots
        siblings.append(nodes[row.pk])  # type: ignore[union-attr]  # children is a list
    return page(arguments, "list_taxonomy_terms", roots, lambda root: root)


def _term(row: Term, arguments: OfTaxonomy) -> JsonObject:
    wire: JsonObject = {"id": str(row.pk), "slug": row.slug, "name": row.name, "children": []}
    if arguments.is_full:
        return {**wire, "locale": row.locale, "orderIndex": row.order_index}
    # Of terms in several languages a post takes those of its own.
    return {**wire, "locale": row.locale} if row.locale and not arguments.locale else wire


@tool(
    title="Terms of a post",
    kind="read",
    permission="posts.view",
    group="taxonomies",
    result=TermIds,
)
def get_post_taxonomy_term_ids(actor: Actor, arguments: TermsOfPost) -> JsonObject:
    """The ids of a post's taxonomy terms, as one of its layers sees them."""
    post = require_post(arguments.post_id)
    layer = None if arguments.layer == "source" else Layer(arguments.layer)
    document = open_layers(post).document(layer)
    return {
        "postId": str(post.pk),
        "layer": arguments.layer,
        "ids": list(document.taxonomy_term_ids),
    }
