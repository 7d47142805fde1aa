"""What the modules of a page need besides their props, found by their field types and `Module.lists`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from content.models import Post
from proofroom.definitions import (
    Module,
    PostList,
    modules,
    post_types,
)
from proofroom.definitions.prop_values import values_in
from proofroom.website.module_sources import module_sources
from proofroom.website.page_media import media_ids
from proofroom.website.rendering import RenderableModule, full_props

logger = logging.getLogger(__name__)
MOST_POSTS = 1000
"""Posts that the modules of one page name; those beyond are not shown."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What to load. `named` has what the fields of each registered source name, by the source's name."""

    media: set[str] = field(default_factory=set)
    post_ids: dict[UUID, None] = field(default_factory=dict)
    lists: dict[PostList, None] = field(default_factory=dict)
    named: dict[str, set[str]] = field(default_factory=dict)


def needs_of(post: Post, items: Sequence[RenderableModule]) -> Needs:
    """What the page of a post needs, whatever is stored in its modules."""
    needs = Needs()
    sources = {source.field: source.name for source in module_sources}
    for item in items:
        definition = modules.get(item.type)
        if definition is None:
            continue
        props = full_props(definition, item)
        needs.media.update(media_ids(definition.Props, props))
        needs.lists.update(dict.fromkeys(_lists(definition, props)))
        for _, kind, value in values_in(definition.Props, props):
            if not isinstance(value, str):
                continue
            if kind == "post-reference" and len(needs.post_ids) < MOST_POSTS:
                needs.post_ids.update(dict.fromkeys(_ids(value)))
            elif kind in sources and value:
                needs.named.setdefault(sources[kind], set()).add(value)
    post_type = post_types.get(post.type)
    if post_type is not None:
        needs.media.update(media_ids(post_type.CustomFields, post.custom_fields))
    return needs


def _lists(definition: type[Module], props: Mapping[str, object]) -> list[PostList]:
    try:
        return list(definition.lists(props))  # type: ignore[arg-type]  # stored JSON
    # What is stored can be older than the definition; the module then shows no list.
    except Exception:
        logger.exception("the lists of a module %s cannot be told", definition.name)
        return []


def _ids(text: str) -> Iterator[UUID]:
    try:
        yield UUID(text)
    except ValueError:
        return
