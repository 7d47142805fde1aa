"""Which taxonomy terms a post may carry."""

from __future__ import annotations

from collections import Counter
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from content.changes import TERMS_PATH, Changes
from content.document import PostDocument
from content.models import Post, Term
from proofroom.core.errors import RuleViolation, invalid
from proofroom.definitions import find_post_type

MAX_TERMS: Final = 200


def check_terms(post: Post, after: PostDocument, changes: Changes) -> None:
    """The terms exist, belong to taxonomies of the post's type, and are no more than `maxSelections` of each."""
    if TERMS_PATH not in changes.paths:
        return
    ids = after.taxonomy_term_ids
    if len(ids) > MAX_TERMS:
        raise _refused(_("A post has at most %(most_terms)s terms.") % {"most_terms": MAX_TERMS})
    for id_ in ids:
        if not _is_uuid(id_):
            raise _refused(_("%(id)r is not the id of a term.") % {"id": id_})
    found = {
        str(pk): name for pk, name in Term.objects.filter(pk__in=ids).values_list("pk", "taxonomy")
    }
    unknown = [id_ for id_ in ids if id_ not in found]
    if unknown:
        raise _refused(
            _("No taxonomy term has the id %(unknown)s.") % {"unknown": ", ".join(unknown)}
        )
    uses = {use.slug: use for use in find_post_type(post.type).taxonomies}
    for taxonomy, count in Counter(found.values()).items():
        if taxonomy not in uses:
            known = ", ".join(uses) or "none"
            raise _refused(
                _("Posts of type %(type)s do not use %(taxonomy)r; they use: %(known)s.")
                % {"type": post.type, "taxonomy": taxonomy, "known": known}
            )
        most = uses[taxonomy].max_selections
        if most is not None and count > most:
            raise _refused(
                _("At most %(most)s terms of %(taxonomy)r are allowed; these are %(count)s.")
                % {"most": most, "taxonomy": taxonomy, "count": count}
            )


def _refused(message: str) -> RuleViolation:
    return invalid("taxonomyTermIds", message)


def _is_uuid(value: object) -> bool:
    try:
        UUID(str(value))
    except ValueError:
        return False
    return isinstance(value, str)
