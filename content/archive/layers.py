"""Drafts and revisions of posts in an archive."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, cast
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from content.archive.documents import clean_document, document_row, is_same, read_document
from content.archive.post_import import BATCH
from content.archive.post_import import NAME as POSTS
from content.archive.posts import chosen_posts
from content.archive.provenance import ProvenanceRow, rows_by_revision, store_provenance
from content.document.changes import diff
from content.document.document import PostDocument
from content.models import Draft, Post, Provenance, Revision
from content.store.layer_state import (
    REASON_MAX,
    Attribution,
    drafts_of_many,
    layers_written,
    open_layers_of_many,
    paths_overlap,
    read_marks,
)
from content.store.media_usage import staged_references, update_draft_references
from proofroom.archive.container import ArchiveError
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome, refused
from proofroom.archive.registry import ArchiveKind
from proofroom.archive.rows import ArchiveRow, Id, Moment, format_moment, read_moment
from proofroom.core.batches import batches
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import Json, JsonObject

DRAFTS: Final = "drafts"
REVISIONS: Final = "revisions"
_HERE_ONLY: Final = ("user_id", "principal")
"""Fields of a mark that are specific to one installation."""


class MarkRow(ArchiveRow):
    person: str | None
    user: str = Field(max_length=150)
    via: str = Field(max_length=10)
    at: str = Field(max_length=40)
    agent_id: str = Field(max_length=80)
    run_id: str = Field(max_length=40)
    edited_by: str = Field(max_length=150)
    drifted: bool
    conflict: bool
    note: str
    source_hash: str = Field(max_length=64)
    reason: str = Field("", max_length=REASON_MAX)


class DraftRow(ArchiveRow):
    post: Id
    layer: Literal["review", "ai-review"]
    version: int = Field(ge=1, le=2**31 - 1)
    base: dict[str, Any]
    document: dict[str, Any]
    marks: dict[str, MarkRow]
    updated_by: str | None
    updated_at: Moment


class DraftArchive(ArchiveKind[DraftRow]):
    """Non-empty drafts of Review and AI Review. An import creates them only for posts it creates."""

    name = DRAFTS
    unique = (("post", "layer"),)
    label = gettext_lazy("Drafts in Review")

    def export(self, export: Export) -> Iterator[JsonObject]:
        drafts = Draft.objects.filter(is_empty=False, post__deleted_at__isnull=True)
        drafts = drafts.exclude(post__variation_of__deleted_at__isnull=False)
        for part in batches(drafts.order_by("post", "layer").iterator(chunk_size=BATCH), BATCH):
            chosen = chosen_posts(export, DRAFTS, {draft.post_id for draft in part})
            ids = set(chosen.values_list("pk", flat=True))
            for draft in part:
                if draft.post_id in ids and draft.base is not None and draft.document is not None:
                    yield _draft_row(draft, export)

    def write(self, rows: Iterator[DraftRow], job: ArchiveImport) -> None:
        created = job.created[POSTS]
        for part in batches(rows, BATCH):
            self._insert([row for row in part if row.post in created], job)
            self._leave([row for row in part if row.post not in created], job)

    def _insert(self, rows: Sequence[DraftRow], job: ArchiveImport) -> None:
        if job.mode == Mode.PROPOSE:
            for _row in rows:
                job.tell(DRAFTS, Outcome.KEPT)
            return
        posts = Post.objects.in_bulk([UUID(row.post) for row in rows])
        drafts: list[Draft] = []
        for row in rows:
            post = posts[UUID(row.post)]
            try:
                base = read_document(row.base, job, post.type, post.locale)
                document = read_document(row.document, job, post.type, post.locale)
                _require_marks_of(diff(base, document).paths, row.marks)
            except CmsError as error:
                raise refused(DRAFTS, post.title, error) from error
            draft = Draft(
                post=post,
                layer=row.layer,
                is_empty=False,
                base=base.to_json(),
                document=document.to_json(),
                marks={path: _mark(mark, job).to_json() for path, mark in row.marks.items()},
                version=row.version,
                updated_by_id=job.person(row.updated_by),
            )
            drafts.append(draft)
            job.tell(DRAFTS, Outcome.CREATED, post.title, row.post)
        Draft.objects.bulk_create(drafts)
        # `auto_now` overwrites `updated_at` on insert, so the archived time is set in a second step.
        for draft, row in zip(drafts, rows, strict=True):
            draft.updated_at = read_moment(row.updated_at)
        Draft.objects.bulk_update(drafts, ["updated_at"])

    def _leave(self, rows: Sequence[DraftRow], job: ArchiveImport) -> None:
        """Report drafts of existing posts without importing them."""
        posts = Post.objects.filter(pk__in=[row.post for row in rows])
        titles = {str(post.pk): post.title for post in posts}
        here = {
            (str(id_), draft.layer): draft
            for id_, drafts in drafts_of_many(list(posts)).items()
            for draft in drafts
        }
        for row in rows:
            if row.post not in titles and row.post not in job.left_out:
                raise ArchiveError(
                    _(
                        "A draft belongs to the post %(id)s, which is neither in the archive "
                        "nor on this site."
                    )
                    % {"id": row.post}
                )
            draft = here.get((row.post, row.layer))
            stored = draft.document if draft is not None else None
            same = stored is not None and is_same(
                PostDocument.from_json(stored), read_document(row.document, job)
            )
            job.tell(
                DRAFTS,
                Outcome.UNCHANGED if same else Outcome.KEPT,
                titles.get(row.post, ""),
                row.post,
            )

    def finish(self, rows: Iterator[DraftRow], job: ArchiveImport) -> None:
        created = job.created[POSTS] if job.mode != Mode.PROPOSE else set[str]()
        for part in batches(rows, BATCH):
            ids = {row.post for row in part if row.post in created}
            posts = list(Post.objects.filter(pk__in=ids).select_related("variation_of"))
            for layers in open_layers_of_many(posts):
                views = [view for view in (layers.review, layers.ai_review) if view.draft]
                for view in views:
                    draft = view.draft
                    if draft is None:
                        continue
                    try:
                        _checked, notes = clean_document(layers.post, view.below, view.document)
                    except CmsError as error:
                        raise refused(DRAFTS, layers.post.title, error) from error
                    for note in notes:
                        job.note(f"{layers.post.title}: {note}")
                    update_draft_references(layers.post, draft.layer, {}, staged_references(draft))
                layers_written(layers.post, views)


def _require_marks_of(paths: Collection[str], marks: Collection[str]) -> None:
    """Raise `RuleViolation` if a mark names the author of a path that the draft doesn't change."""
    for marked in marks:
        if not any(paths_overlap(marked, path) for path in paths):
            message = _("The draft names an author of this field, but does not change the field.")
            raise invalid(marked[:80], message)


def _draft_row(draft: Draft, export: Export) -> JsonObject:
    marks = {}
    for path, mark in read_marks(draft.marks).items():
        values = {name: value for name, value in mark.to_json().items() if name not in _HERE_ONLY}
        marks[path] = MarkRow.model_validate(
            {**values, "person": export.person(mark.user_id)}
        ).model_dump(by_alias=True)
    return {
        "post": str(draft.post_id),
        "layer": draft.layer,
        "version": draft.version,
        "base": document_row(
            PostDocument.from_json(cast("Mapping[str, Json]", draft.base)), export
        ),
        "document": document_row(
            PostDocument.from_json(cast("Mapping[str, Json]", draft.document)), export
        ),
        "marks": marks,
        "updatedBy": export.person(draft.updated_by_id),
        "updatedAt": format_moment(draft.updated_at),
    }


def _mark(row: MarkRow, job: ArchiveImport) -> Attribution:
    mark = Attribution(user_id=job.person(row.person), user=row.user, via=row.via, at=row.at)
    return replace(mark, **row.model_dump(exclude={"person", "user", "via", "at"}))


class RevisionRow(ArchiveRow):
    id: Id
    post: Id
    version: int = Field(ge=0, le=2**31 - 1)
    reason: str = Field(max_length=40)
    document: dict[str, Any]
    changed_paths: list[str]
    note: str
    by: str | None
    by_name: str = Field(max_length=150)
    agent_id: str = Field(max_length=80)
    run_id: str = Field(max_length=40)
    created_at: Moment
    provenance: list[ProvenanceRow]


class RevisionArchive(ArchiveKind[RevisionRow]):
    """Revisions, if the archive has them. An import creates them only for posts it creates."""

    name = REVISIONS
    unique = (("id",), ("post", "version"))
    label = gettext_lazy("Revisions")

    def export(self, export: Export) -> Iterator[JsonObject]:
        rows = Revision.objects.filter(post__deleted_at__isnull=True)
        rows = rows.exclude(post__variation_of__deleted_at__isnull=False)
        # Streamed, because all revisions of a large site may not fit into memory.
        for part in batches(rows.order_by("post", "version").iterator(chunk_size=BATCH), BATCH):
            chosen = chosen_posts(export, REVISIONS, {revision.post_id for revision in part})
            ids = set(chosen.values_list("pk", flat=True))
            writers = rows_by_revision(
                Provenance.objects.filter(revision__in=part).order_by("pk"), export
            )
            for revision in part:
                if revision.post_id in ids:
                    yield {
                        "id": str(revision.pk),
                        "post": str(revision.post_id),
                        "version": revision.version,
                        "reason": revision.reason,
                        "document": document_row(PostDocument.from_json(revision.document), export),
                        "changedPaths": revision.changed_paths,
                        "note": revision.note,
                        "by": export.person(revision.by_id),
                        "byName": revision.by_name,
                        "agentId": revision.agent_id,
                        "runId": revision.run_id,
                        "createdAt": format_moment(revision.created_at),
                        "provenance": writers.get(revision.pk, []),
                    }

    def write(self, rows: Iterator[RevisionRow], job: ArchiveImport) -> None:
        created = job.created[POSTS]
        for part in batches(rows, BATCH):
            new = [row for row in part if row.post in created and job.keeps_history]
            for _row in range(len(part) - len(new)):
                job.tell(REVISIONS, Outcome.KEPT)
            self._insert(new, job)

    def _insert(self, rows: Sequence[RevisionRow], job: ArchiveImport) -> None:
        made = []
        for row in rows:
            try:
                document = read_document(row.document, job)
            except CmsError as error:
                raise refused(REVISIONS, row.id, error) from error
            made.append(
                Revision(
                    id=UUID(row.id),
                    post_id=UUID(row.post),
                    version=row.version,
                    reason=row.reason,
                    document=document.to_json(),
                    changed_paths=row.changed_paths,
                    note=row.note,
                    by_id=job.person(row.by),
                    by_name=row.by_name,
                    agent_id=row.agent_id,
                    run_id=row.run_id,
                )
            )
            job.tell(REVISIONS, Outcome.CREATED)
        Revision.objects.bulk_create(made)
        # `auto_now_add` overwrites `created_at` on insert.
        for revision, row in zip(made, rows, strict=True):
            revision.created_at = read_moment(row.created_at)
        Revision.objects.bulk_update(made, ["created_at"])
        store_provenance(
            [(revision, row.provenance) for revision, row in zip(made, rows, strict=True)], job
        )
