"""Copies of a post's content: with ids of their own, and knowing which module came from which."""

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
"""What a copy takes over, beside custom fields: what a post says, not where it stands or when it appears."""


def copied_fields(source: PostDocument) -> JsonObject:
    """The fields that a copy takes over. Custom fields that are defined no more stay behind."""
    known = props_of(find_post_type(source.type).CustomFields)
    fields: JsonObject = {name: source.fields.get(name) for name in COPIED_FIELDS}
    fields["customFields"] = {
        name: value for name, value in source.custom_fields.items() if name in known
    }
    return fields


def copy_modules(source: PostDocument, onto: PostDocument) -> tuple[PostDocument, dict[str, str]]:
    """`onto` with a copy of each module, shared ones still shared; and the copies' ids by those of the source.

    A module whose type is defined no more stays behind: no post can take it.
    """
    ids = {module.id: str(uuid4()) for module in source.modules if module.type in modules}
    copies = tuple(
        replace(
            module,
            id=ids[module.id],
            instance_id=module.instance_id if module.scope == "global" else str(uuid4()),
        )
        for module in source.modules
        if module.id in ids
    )
    return replace(onto, modules=copies), ids


def pair_modules(source: PostDocument, copy: PostDocument) -> dict[str, str]:
    """The modules of two posts that say the same in two languages: those of a type, in their order."""
    left = list(copy.modules)
    pairs: dict[str, str] = {}
    for module in source.modules:
        other = next((item for item in left if item.type == module.type), None)
        if other is not None:
            left.remove(other)
            pairs[module.id] = other.id
    return pairs


def translate_terms(locale: str, source: PostDocument) -> list[str]:
    """The terms of the source as another language has them: those of every language, and those of the same slug."""
    found: list[str] = []
    rows = list(Term.objects.filter(pk__in=source.taxonomy_term_ids))
    slugs = {(row.taxonomy, row.slug) for row in rows}
    there = Term.objects.filter(locale=locale, slug__in={slug for _, slug in slugs})
    found += [str(row.pk) for row in rows if row.locale in ("", locale)]
    found += [str(row.pk) for row in there if (row.taxonomy, row.slug) in slugs]
    return found


def terms_without_translation(locale: str, source: Post) -> list[str]:
    """The names of a post's terms that another language has none of the same slug for. Two queries at most."""
    terms = Term.objects.filter(post_terms__post=source).exclude(locale__in=["", locale])
    rows = list(terms.values_list("taxonomy", "slug", "name"))
    slugs = [slug for _taxonomy, slug, _name in rows]
    there = set(Term.objects.filter(locale=locale, slug__in=slugs).values_list("taxonomy", "slug"))
    return [name for taxonomy, slug, name in rows if (taxonomy, slug) not in there]
