"""Which taxonomy terms a post may carry."""

from __future__ import annotations

from collections import Counter
from typing import Final
from uuid import UUID

from content.changes import TERMS_PATH, Changes
from content.definitions import find_post_type
from content.document import PostDocument
from content.models import Post, Term
from core.errors import RuleViolation, invalid

MOST_TERMS: Final = 200


def check_terms(post: Post, after: PostDocument, changes: Changes) -> None:
    """The terms exist, belong to taxonomies of the post's type, and are no more than `maxSelections` of each."""
    if TERMS_PATH not in changes.paths:
        return
    ids = after.taxonomy_term_ids
    if len(ids) > MOST_TERMS:
        raise _refused(f"A post has at most {MOST_TERMS} terms.")
    for id_ in ids:
        if not _is_uuid(id_):
            raise _refused(f"{id_!r} is not the id of a term.")
    found = {
        str(pk): name for pk, name in Term.objects.filter(pk__in=ids).values_list("pk", "taxonomy")
    }
    unknown = [id_ for id_ in ids if id_ not in found]
    if unknown:
        raise _refused(f"No taxonomy term has the id {', '.join(unknown)}.")
    uses = {use.slug: use for use in find_post_type(post.type).taxonomies}
    for taxonomy, count in Counter(found.values()).items():
        if taxonomy not in uses:
            known = ", ".join(uses) or "none"
            raise _refused(f"Posts of type {post.type} do not use {taxonomy!r}; they use: {known}.")
        most = uses[taxonomy].max_selections
        if most is not None and count > most:
            raise _refused(f"At most {most} terms of {taxonomy!r} are allowed; these are {count}.")


def _refused(message: str) -> RuleViolation:
    return invalid("taxonomyTermIds", message)


def _is_uuid(value: object) -> bool:
    try:
        UUID(str(value))
    except ValueError:
        return False
    return isinstance(value, str)
