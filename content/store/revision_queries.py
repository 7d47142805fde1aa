"""Queries for the revisions of a post and for their differences."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from content.document.changes import Value, diff
from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.models import Post, Revision
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class RevisionDifference:
    """A change between two revisions, with its label."""

    path: str
    kind: str
    label: str
    before: Value
    after: Value


def revisions_of(post: Post) -> QuerySet[Revision]:
    """Return the revisions of a post, newest first, without their documents."""
    return post.revisions.defer("document").order_by("-version")


def find_revision(post: Post, revision_id: UUID | str) -> Revision:
    """Return a revision of this post. Raises `NotFound`, also for a revision of another post."""
    found = find_by_id(post.revisions, revision_id)
    if found is None:
        raise NotFound(
            _("This post has no revision %(revision_id)s.") % {"revision_id": revision_id}
        )
    return found


def differences(one: Revision, other: Revision) -> list[RevisionDifference]:
    """Return the changes from one revision to the other."""
    before = PostDocument.from_json(one.document)
    after = PostDocument.from_json(other.document)
    names = module_names(after, before)
    return [
        RevisionDifference(
            change.path,
            change.kind,
            label_of(change.path, after, names),
            change.before,
            change.after,
        )
        for change in diff(before, after)
    ]
