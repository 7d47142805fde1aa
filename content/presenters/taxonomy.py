"""Taxonomies and their terms as the wire has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from content.definitions import Taxonomy, post_types
from content.models import Term
from content.presenters.modules import Wire


def taxonomy(definition: type[Taxonomy]) -> Wire:
    return {
        "slug": definition.name,
        "name": definition.label,
        "description": definition.description,
        "hierarchical": definition.hierarchical,
        "freeTagging": definition.free_tagging,
        "postTypes": [
            {"slug": post_type.name, "maxSelections": use.max_selections}
            for post_type in post_types
            for use in post_type.taxonomies
            if use.slug == definition.name
        ],
    }


def term(row: Term) -> Wire:
    return {
        "id": str(row.pk),
        "taxonomy": row.taxonomy,
        "slug": row.slug,
        "name": row.name,
        "parentId": str(row.parent_id) if row.parent_id else None,
        "locale": row.locale,
        "orderIndex": row.order_index,
    }


def term_tree(roots: Sequence[Term], below: Iterable[Term]) -> list[Wire]:
    """The roots with what stands below them; `below` come in their order."""
    nodes: dict[UUID, Wire] = {row.pk: {**term(row), "children": []} for row in roots}
    found = [nodes[row.pk] for row in roots]
    rows = list(below)
    for row in rows:
        nodes[row.pk] = {**term(row), "children": []}
    for row in rows:
        if row.parent_id in nodes:
            nodes[row.parent_id]["children"].append(nodes[row.pk])
    return found
