"""Posts in an archive: live content, place, state and the author of each value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.archive.consistency import refuse_contradictions
from content.archive.documents import document_row
from content.archive.post_import import (
    BATCH,
    NAME,
    ArchivedPost,
    apply_archived_post,
    finish_imported_posts,
    insert_posts,
    match_post,
    require_parents,
    title_of,
)
from content.archive.provenance import provenance_row
from content.archive.selection import select_posts
from content.document.document import PostDocument
from content.document.post_fields import SLUG_MAX
from content.models import CopyOrigin, ModuleInstance, Post, PostModule, PostTerm, Provenance
from content.store import post_repository
from proofroom.archive.consistency import NumberedRow
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.registry import ArchiveKind
from proofroom.archive.rows import format_moment
from proofroom.core.batches import batches
from proofroom.core.database.table_statistics import refresh_statistics
from proofroom.core.json import Json, JsonObject
from proofroom.core.slugs import cut_slug

_KNOWN: Final = "posts.known"
"""Job state key: True if posts of the archive already existed."""
# A post whose parent is in the trash counts as top level.
_TREE: Final = """
    WITH RECURSIVE tree (id, level) AS (
        SELECT post.id, 0 FROM content_post post
        LEFT JOIN content_post above ON above.id = post.parent_id AND above.deleted_at IS NULL
        WHERE post.deleted_at IS NULL AND post.variation_of_id IS NULL AND above.id IS NULL
        UNION ALL
        SELECT post.id, tree.level + 1 FROM content_post post
        JOIN tree ON post.parent_id = tree.id
        WHERE post.deleted_at IS NULL AND post.variation_of_id IS NULL
    )
    SELECT id FROM tree ORDER BY level, id
"""


class PostArchive(ArchiveKind[ArchivedPost]):
    """Posts outside the trash. The job's `created` holds the ids of imported posts."""

    name = NAME
    label = gettext_lazy("Posts")

    def check(self, rows: Iterator[NumberedRow]) -> None:
        refuse_contradictions(rows)

    def select(self, export: Export) -> None:
        select_posts(export)

    def export(self, export: Export) -> Iterator[JsonObject]:
        for ids in batches(ordered_ids(), BATCH):
            posts = list(chosen_posts(export, NAME, ids))
            wanted = {id_: place for place, id_ in enumerate(ids)}
            posts.sort(key=lambda post: wanted[post.pk])
            origins = {
                row.post_id: {
                    "modules": row.modules,
                    "hashes": row.hashes,
                    "untranslated": row.untranslated,
                }
                for row in CopyOrigin.objects.filter(post__in=posts)
            }
            moved = _free_slugs(posts)
            writers = {} if export.choice.revisions else _latest_writers(posts, export)
            for post, document in post_repository.load_many(posts):
                if post.parent is not None and post.parent.deleted_at is not None:
                    document = _at_the_top(post, document, moved.get(post.pk), export)
                yield _row(post, document, origins.get(post.pk), writers.get(post.pk, []), export)

    def match(self, rows: Iterator[ArchivedPost], job: ArchiveImport) -> None:
        if not Post.objects.exists():
            return
        for part in batches(rows, BATCH):
            ids = [row.id for row in part]
            here = set(Post.objects.filter(pk__in=ids).values_list("pk", flat=True))
            for row in part:
                if UUID(row.id) not in here:
                    match_post(row, job)

    def write(self, rows: Iterator[ArchivedPost], job: ArchiveImport) -> None:
        """Insert new posts. They are not visible before the commit; `finish` validates them."""
        for part in batches(rows, BATCH):
            ids = [row.id for row in part]
            rows_here = Post.objects.filter(pk__in=ids).values_list("pk", "deleted_at")
            here = {str(pk): deleted_at for pk, deleted_at in rows_here}
            job.state[_KNOWN] = job.state.get(_KNOWN, False) or bool(here)
            new: list[ArchivedPost] = []
            for row in part:
                if here.get(row.id) is not None:
                    sentence = _("It is in the trash of this site. Restore it, then import again.")
                    job.leave_out(NAME, title_of(row), row.id, sentence)
                elif row.id not in here:
                    new.append(row)
            insert_posts(new, job)

    def finish(self, rows: Iterator[ArchivedPost], job: ArchiveImport) -> None:
        created = job.created[NAME]
        if created:
            # Without new statistics, PostgreSQL would plan the following queries for the almost empty tables
            # from before the import.
            refresh_statistics(Post, ModuleInstance, PostModule, PostTerm)
        require_parents(created)
        for part in batches(rows, BATCH):
            finish_imported_posts([row for row in part if row.id in created], job)
        for part in batches(job.rows(self.name, self.row), BATCH) if job.state.get(_KNOWN) else ():
            known = [row for row in part if row.id not in created and row.id not in job.left_out]
            posts = Post.objects.select_related("parent").filter(pk__in=[row.id for row in known])
            here = {str(post.pk): (post, live) for post, live in post_repository.load_many(posts)}
            for row in known:
                apply_archived_post(row, *here[row.id], job)


def ordered_ids() -> Iterator[UUID]:
    """Yield the ids of all posts outside the trash: parents before children, variations last."""
    with connection.cursor() as cursor:
        cursor.execute(_TREE)
        while found := cursor.fetchmany(1000):
            yield from (id_ if isinstance(id_, UUID) else UUID(id_) for (id_,) in found)
    variations = Post.objects.kept().filter(variation_of__deleted_at__isnull=True)
    rows = variations.filter(variation_of__isnull=False).order_by("pk")
    yield from rows.values_list("pk", flat=True).iterator(chunk_size=1000)


def chosen_posts(export: Export, kind: str, ids: Collection[UUID]) -> QuerySet[Post]:
    """Return the posts whose rows of this kind are exported."""
    wanted = export.of_kind(kind)
    if wanted is not None:
        ids = [id_ for id_ in ids if str(id_) in wanted]
    return Post.objects.filter(pk__in=ids).select_related("parent", "translated_from")


def _free_slugs(posts: Sequence[Post]) -> dict[UUID, str]:
    """Return new slugs for posts below the trash that would collide at the top level.

    Archives don't contain the trash. The slugs are derived from ids, so equal content gives equal archives. At
    most one query.
    """
    below_trash = [post for post in posts if post.parent and post.parent.deleted_at]
    if not below_trash:
        return {}
    rows = Post.objects.alive().filter(slug__in={post.slug for post in below_trash})
    at_top = rows.filter(Q(parent=None) | Q(parent__deleted_at__isnull=False))
    there: dict[tuple[str, str, str], list[tuple[bool, UUID]]] = defaultdict(list)
    for type_, locale, slug, pk, parent in at_top.values_list(
        "type", "locale", "slug", "pk", "parent"
    ):
        there[type_, locale, slug].append((parent is not None, pk))
    return {
        post.pk: f"{cut_slug(post.slug, SLUG_MAX - 9)}-{post.pk.hex[:8]}"
        for post in below_trash
        if min(there[post.type, post.locale, post.slug], default=(True, post.pk))[1] != post.pk
    }


def _at_the_top(
    post: Post, document: PostDocument, slug: str | None, export: Export
) -> PostDocument:
    """Return the document of a post without its parent, which is in the trash."""
    text = _("%(title)s: at the top level, because its parent page is in the trash.")
    if slug is not None:
        document = document.with_fields({"slug": slug})
        text = _(
            "%(title)s: at the top level, because its parent page is in the trash. Its slug is "
            "%(slug)s there."
        )
    export.notes.append(text % {"title": post.title, "slug": slug})
    return document.with_fields({"parentId": None})


def _row(
    post: Post,
    document: PostDocument,
    origin: JsonObject | None,
    writers: Sequence[Json],
    export: Export,
) -> JsonObject:
    source = post.translated_from
    is_lost = source is not None and source.deleted_at is not None
    return {
        "id": str(post.pk),
        "type": post.type,
        "locale": post.locale,
        "document": document_row(document, export),
        "status": post.status,
        "createdAt": format_moment(post.created_at),
        "updatedAt": format_moment(post.updated_at),
        "publishedAt": format_moment(post.published_at),
        "version": post.version,
        "isPlaceholder": post.is_placeholder,
        "author": export.person(post.author_id),
        "translationGroup": str(post.translation_group),
        "translatedFrom": str(source.pk) if source is not None and not is_lost else None,
        "origin": None if is_lost else origin,
        "variationOf": str(post.variation_of_id) if post.variation_of_id else None,
        "variation": post.variation,
        "variationWeight": post.variation_weight,
        "variationRunning": post.variation_running,
        "provenance": writers,
    }


def _latest_writers(posts: Sequence[Post], export: Export) -> Mapping[UUID, list[Json]]:
    """Return the author of each value changed after the creation of its post. One query."""
    later = Provenance.objects.filter(post__in=posts).exclude(revision__reason="created")
    latest = later.values("post", "path").annotate(last=Max("id")).values("last")
    found: dict[UUID, list[Json]] = defaultdict(list)
    for row in Provenance.objects.filter(pk__in=latest).order_by("post", "path"):
        found[row.post_id].append(provenance_row(row, export))
    for rows in found.values():
        # Sorted here, because databases sort text by different collations.
        rows.sort(key=lambda row: str(row["path"]) if isinstance(row, dict) else "")
    return found
