"""The posts that links of live content lead to.

A link is stored as it was written. When a post moves, the links to its old path remember the post, so that answers
can name its present path.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from content.document.contents import inside_path
from content.models import ContentLink, Post
from content.models.post import ALIVE_CONDITION, TRASHED_CONDITION
from content.models.post_check import HREF_MAX
from content.store.content_links import path_key
from proofroom.core.batches import batches
from proofroom.core.caching.content_tags import depend_on, tag_of_path, tag_of_post
from proofroom.core.database.compiled_queries import CompiledQuery, Row

_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A post that a link leads to."""

    id: UUID
    path: str
    is_published: bool


HeldLink = tuple[UUID, str]
"""The id of a post or a global module, and an address in its content."""


def remember_targets(moved: Mapping[str, UUID]) -> None:
    """Store the posts of the links to these paths, before other posts can take the paths. One query for 200 paths.

    Links that already remember a post stay as they are.
    """
    by_key = {path_key(path): post_id for path, post_id in moved.items()}
    for keys in batches(list(by_key), _BATCH):
        rows = list(
            ContentLink.objects.filter(
                key__in=keys, kind=ContentLink.Kind.PATH, target_id__isnull=True
            ).order_by("pk")
        )
        for row in rows:
            row.target_id = by_key[row.key]
        if rows:
            ContentLink.objects.bulk_update(rows, ["target_id"], batch_size=_BATCH)


def find_targets(links: Collection[HeldLink]) -> dict[HeldLink, LinkTarget]:
    """Return the posts of links. Links to anything else have no entry. Two queries, none without links of the site.

    The answer that is being built depends on these posts and paths.
    """
    paths = {link: path for link in links if (path := inside_path(link[1])) and "\x00" not in path}
    if not paths:
        return {}
    remembered = _remembered({holder for holder, _ in paths})
    posts = _posts(set(remembered.values()), set(paths.values()))
    by_id = {target.id: target for target in posts}
    # The published post of a path, where several have it.
    by_path = {target.path: target for target in sorted(posts, key=lambda one: one.is_published)}
    found: dict[HeldLink, LinkTarget] = {}
    for link, path in paths.items():
        id_ = remembered.get((link[0], link[1][:HREF_MAX]))
        if id_ is not None:
            found[link] = by_id.get(id_) or LinkTarget(id_, "", is_published=False)
        elif path in by_path:
            found[link] = by_path[path]
    depend_on(
        *(tag_of_post(target.id) for target in found.values()),
        # A post that appears at the path changes the answer.
        *(tag_of_path(path) for path in paths.values()),
    )
    return found


_REMEMBERED: Final = CompiledQuery(
    lambda posts, modules: ContentLink.objects.filter(
        Q(post__in=posts) | Q(module__in=modules),
        kind=ContentLink.Kind.PATH,
        target_id__isnull=False,
    ).values("post_id", "module_id", "href", "target_id")
)
_COLUMNS: Final = ("id", "path", "status", "is_placeholder", "deleted_at")
_AT_PATHS: Final = CompiledQuery(lambda paths: _rows(_at_paths(paths)))
_WITH_IDS: Final = CompiledQuery(
    lambda ids, paths: _rows(Q(pk__in=ids, variation_of__isnull=True) | _at_paths(paths))
)


def _rows(posts: Q) -> QuerySet[Post, Row]:
    found: QuerySet[Post, Row] = Post.objects.filter(posts).values(*_COLUMNS)
    return found


def _at_paths(paths: Collection[str]) -> Q:
    # In two parts, each with an index of its own.
    return (ALIVE_CONDITION & Q(path__in=paths)) | (TRASHED_CONDITION & Q(path__in=paths))


def _remembered(holders: Collection[UUID]) -> dict[HeldLink, UUID]:
    ids = list(holders)
    return {
        (row["post_id"] or row["module_id"], row["href"]): row["target_id"]
        for row in _REMEMBERED.rows(ids, ids)
    }


def _posts(ids: Collection[UUID], paths: Collection[str]) -> list[LinkTarget]:
    """Return the posts with these ids or at these paths. One query."""
    at_paths = list(paths)
    rows = _WITH_IDS.rows(list(ids), at_paths) if ids else _AT_PATHS.rows(at_paths)
    return [
        LinkTarget(
            row["id"],
            row["path"],
            is_published=row["status"] == "published"
            and not row["is_placeholder"]
            and row["deleted_at"] is None,
        )
        for row in rows
    ]
