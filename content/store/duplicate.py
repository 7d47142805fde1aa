"""Copies of a post's content with new ids, and the mapping from source modules to copied modules."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import uuid4

from content.document.document import PostDocument
from content.document.post_fields import POST_FIELDS
from content.models import Post
from proofroom.core.json import JsonObject
from proofroom.definitions import find_post_type, modules, props_of
from proofroom.taxonomies.models import Term

COPIED_FIELDS: Final = tuple(name for name, field in POST_FIELDS.items() if field.copied)
"""Names of the fields that a copy gets, besides custom fields: content, but not place or dates."""


def copied_fields(source: PostDocument) -> JsonObject:
    """Return the fields for a copy. Custom fields without a definition are omitted."""
    known = props_of(find_post_type(source.type).CustomFields)
    fields: JsonObject = {name: source.fields.get(name) for name in COPIED_FIELDS}
    fields["customFields"] = {
        name: value for name, value in source.custom_fields.items() if name in known
    }
    return fields


def copy_modules(source: PostDocument, onto: PostDocument) -> tuple[PostDocument, dict[str, str]]:
    """Return `onto` with a copy of each module, and the copies' ids by source id.

    Copies of global modules share the instance. Modules without a definition are omitted, as no post may have them.
    """
    ids = {module.id: str(uuid4()) for module in source.modules if module.type in modules}
    copies = tuple(
        replace(
            module,
            id=ids[module.id],
            # A local instance belongs to one post, so its copy needs a new one.
            instance_id=module.instance_id if module.scope == "global" else str(uuid4()),
        )
        for module in source.modules
        if module.id in ids
    )
    return replace(onto, modules=copies), ids


def pair_modules(source: PostDocument, copy: PostDocument) -> dict[str, str]:
    """Match the modules of two translations by type, in order. Returns the copy's module ids by source id."""
    left = list(copy.modules)
    pairs: dict[str, str] = {}
    for module in source.modules:
        other = next((item for item in left if item.type == module.type), None)
        if other is not None:
            left.remove(other)
            pairs[module.id] = other.id
    return pairs


def translate_terms(locale: str, source: PostDocument) -> list[str]:
    """Return the ids of the source's terms in another locale: terms for all locales, and terms with the same slug."""
    found: list[str] = []
    rows = list(Term.objects.filter(pk__in=source.taxonomy_term_ids))
    slugs = {(row.taxonomy, row.slug) for row in rows}
    there = Term.objects.filter(locale=locale, slug__in={slug for _, slug in slugs})
    found += [str(row.pk) for row in rows if row.locale in ("", locale)]
    found += [str(row.pk) for row in there if (row.taxonomy, row.slug) in slugs]
    return found


def terms_without_translation(locale: str, source: Post) -> list[str]:
    """Return the names of a post's terms that have no term of the same slug in another locale.

    At most two queries.
    """
    terms = Term.objects.filter(post_terms__post=source).exclude(locale__in=["", locale])
    rows = list(terms.values_list("taxonomy", "slug", "name"))
    slugs = [slug for _taxonomy, slug, _name in rows]
    there = set(Term.objects.filter(locale=locale, slug__in=slugs).values_list("taxonomy", "slug"))
    return [name for taxonomy, slug, name in rows if (taxonomy, slug) not in there]
