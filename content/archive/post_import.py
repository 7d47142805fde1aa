"""Import of archived posts: match by id or place, insert and validate new ones, update or stage existing ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import Field

from content.archive.documents import (
    adopt_modules,
    clean_document,
    empty_archive_document,
    keep_missing_fields,
    read_document,
    require_kinds,
)
from content.archive.provenance import ProvenanceRow, store_provenance
from content.document.changes import Changes, apply, diff, value_at
from content.document.document import ModuleDocument, PostDocument
from content.document.post_fields import SCHEDULE_FIELDS
from content.layers.stage import stage
from content.models import (
    CopyOrigin,
    Draft,
    Layer,
    ModuleInstance,
    Post,
    PostAuthor,
    PostModule,
    PostTerm,
    Revision,
    Status,
)
from content.models.post import VARIATION_MAX
from content.posts.create import require_names, set_columns
from content.posts.edit import edit_post
from content.rules.check import translation_taken
from content.store import post_repository, search
from content.store.content_links import update_live_links
from content.store.field_values import update_field_values
from content.store.layer_state import event_payload
from content.store.media_usage import update_live_references
from content.store.post_paths import (
    check_paths_are_free,
    fill_pattern,
    find_posts_at,
    path_taken,
    pattern_of,
    slugs_in,
)
from media.models import Asset
from proofroom.archive.container import ArchiveError
from proofroom.archive.imports import ArchiveImport, Mode, Outcome, reason_of, refused
from proofroom.archive.rows import ArchiveRow, Id, Moment, read_moment
from proofroom.core import outbox
from proofroom.core.batches import batches
from proofroom.core.errors import CmsError, RuleViolation, invalid
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.core.validation.limits import LOCALE_MAX
from proofroom.definitions import find_post_type

NAME: Final = "posts"
IMPORTED: Final = "imported"
"""Reason of the revision that an import creates."""
BATCH: Final = 100


class OriginRow(ArchiveRow):
    modules: dict[str, str | None]
    hashes: dict[str, str]
    untranslated: list[str] = []


class ArchivedPost(ArchiveRow):
    id: Id
    type: str = Field(max_length=60)
    locale: str = Field(max_length=LOCALE_MAX)
    document: dict[str, Any]
    status: Literal["draft", "published", "archived"]
    created_at: Moment
    updated_at: Moment
    published_at: Moment | None
    version: int = Field(ge=1, le=2**31 - 1)
    is_placeholder: bool
    author: str | None
    translation_group: Id
    translated_from: Id | None
    origin: OriginRow | None
    variation_of: Id | None
    variation: str = Field(max_length=VARIATION_MAX)
    variation_weight: int | None = Field(ge=0, le=100)
    variation_running: bool
    provenance: list[ProvenanceRow]


class InsertedPost(NamedTuple):
    """An archived row with the new post and document made from it."""

    row: ArchivedPost
    post: Post
    document: PostDocument


def title_of(row: ArchivedPost) -> str:
    post = row.document.get("post")
    return str(post.get("title") if isinstance(post, dict) else "")[:200]


def match_post(row: ArchivedPost, job: ArchiveImport) -> None:
    """Match an archived post by type, language, slug and parent, or a variation by its name."""
    post = row.document.get("post")
    fields = post if isinstance(post, dict) else {}
    found: Post | None
    if row.variation_of is not None:
        original = UUID(job.id_here(row.variation_of))
        rows = Post.objects.kept().filter(variation_of=original, variation=row.variation)
        found = rows.first()
    else:
        rows = Post.objects.alive().filter(
            type=row.type, locale=row.locale, slug=str(fields.get("slug"))
        )
        if find_post_type(row.type).hierarchical:
            parent = fields.get("parentId")
            above = job.id_here(parent) if isinstance(parent, str) else None
            rows = rows.filter(parent=parse_uuid(above))
        found = rows.first()
    if found is not None:
        job.map_id(row.id, str(found.pk))
        job.map_id(row.translation_group, str(found.translation_group))


def _leave_out_dependent(row: ArchivedPost, job: ArchiveImport) -> bool:
    """Leave the post out if its parent or original is left out. Return True in this case."""
    fields = row.document.get("post")
    parent = fields.get("parentId") if isinstance(fields, dict) else None
    if job.left_out.isdisjoint({str(parent), str(row.variation_of)}):
        return False
    sentence = _("The post that it belongs to was not imported.")
    job.leave_out(NAME, title_of(row), row.id, sentence)
    return True


def _leave_out_conflicting(new: Sequence[InsertedPost], job: ArchiveImport) -> list[InsertedPost]:
    """Return the new posts, except ones whose path or translation another post already has."""
    created = job.created[NAME]
    paths = find_posts_at({one.post.path for one in new if one.post.path})
    at = {other.path: other for other in paths if str(other.pk) not in created}
    groups = {one.post.translation_group for one in new if one.post.variation_of_id is None}
    translations = {
        (other.translation_group, other.locale): other
        for other in Post.objects.alive().filter(translation_group__in=groups)
        if str(other.pk) not in created
    }
    accepted: list[InsertedPost] = []
    for one in new:
        if _leave_out_dependent(one.row, job):
            continue
        post, error = one.post, None
        if post.variation_of_id is None:
            other = translations.get((post.translation_group, post.locale))
            error = translation_taken(other, job.actor) if other is not None else None
            if post.path in at:
                error = path_taken("slug", at[post.path], job.actor)
        if error is None:
            accepted.append(one)
        else:
            job.leave_out(NAME, post.title, one.row.id, reason_of(error))
    return accepted


def insert_posts(rows: Sequence[ArchivedPost], job: ArchiveImport) -> None:
    instances: list[ModuleInstance] = []
    places: list[PostModule] = []
    terms: list[PostTerm] = []
    authors: list[PostAuthor] = []
    origins: list[CopyOrigin] = []
    named = {str((row.document.get("post") or {}).get("featuredMediaId")) for row in rows}
    known = {value for value in named if parse_uuid(value) is not None}
    there = {str(pk) for pk in Asset.objects.filter(pk__in=known).values_list("pk", flat=True)}
    new: list[InsertedPost] = []
    for row in rows:
        if not _leave_out_dependent(row, job):
            try:
                new.append(InsertedPost(row, *_new_post(row, there, job)))
            except CmsError as error:
                raise refused(NAME, title_of(row), error) from error
    _set_paths(new)
    new = _leave_out_conflicting(new, job)
    for row, post, document in new:
        own = post_repository.rows_of(post, document)
        instances += own[0]
        places += own[1]
        terms += own[2]
        authors += own[3]
        if row.origin is not None:
            origins.append(CopyOrigin(post=post, **row.origin.model_dump()))
        job.created[NAME].add(row.id)
        job.tell(NAME, Outcome.CREATED, post.title, row.id)
    posts = [one.post for one in new]
    moments = [(post.created_at, post.updated_at) for post in posts]
    Post.objects.bulk_create(posts)
    # `auto_now` and `auto_now_add` overwrite the dates on insert.
    for post, moment in zip(posts, moments, strict=True):
        post.created_at, post.updated_at = moment
    Post.objects.bulk_update(posts, ["created_at", "updated_at"])
    ModuleInstance.objects.bulk_create(instances, batch_size=500)
    PostModule.objects.bulk_create(places, batch_size=500)
    PostTerm.objects.bulk_create(terms, batch_size=500)
    PostAuthor.objects.bulk_create(authors, batch_size=500)
    CopyOrigin.objects.bulk_create(origins, batch_size=500)


def _new_post(
    row: ArchivedPost, media: Collection[str], job: ArchiveImport
) -> tuple[Post, PostDocument]:
    find_post_type(row.type)
    require_site_language(row.locale)
    document = read_document(row.document, job, row.type, row.locale)
    require_kinds(document)
    require_names(document)
    picture = document.fields.get("featuredMediaId")
    if picture is not None and str(picture) not in media:
        job.note(
            _("%(title)s: the featured image is neither in the archive nor on this site.")
            % {"title": title_of(row)}
        )
        document = document.with_fields({"featuredMediaId": None})
    status = Status(row.status)
    if job.mode == Mode.PROPOSE:
        status = Status.DRAFT
    for name in SCHEDULE_FIELDS:
        due = document.fields.get(name)
        moment = post_repository.column_value(name, due)
        # A schedule in the past would publish the post at the next run of the scheduler. A published post whose
        # time is over must leave the site.
        is_past = not isinstance(moment, datetime) or moment <= timezone.now()
        is_kept = not is_past or (name == "unpublishAt" and status == Status.PUBLISHED)
        if due is not None and (job.mode == Mode.PROPOSE or not is_kept):
            job.note(
                _("%(title)s: not scheduled on this site. Choose a new date.")
                % {"title": title_of(row)}
            )
            document = document.with_fields({name: None})
    post = Post(id=UUID(row.id), type=row.type, locale=row.locale)
    try:
        set_columns(post, document)
        # The document holds the parent's id as text.
        if post.parent_id is not None:
            post.parent_id = UUID(str(post.parent_id))
    except (ValueError, TypeError):
        raise invalid("document", _("A field has a value that cannot be stored.")) from None
    post.status = status
    post.published_at = None
    if row.published_at is not None and job.mode != Mode.PROPOSE:
        post.published_at = read_moment(row.published_at)
    post.created_at, post.updated_at = read_moment(row.created_at), read_moment(row.updated_at)
    post.version = row.version
    post.is_placeholder = row.is_placeholder
    author = job.person(row.author)
    post.author_id = author if job.keeps_history else job.actor.user.pk
    post.translation_group = UUID(row.translation_group)
    post.translated_from_id = UUID(row.translated_from) if row.translated_from else None
    post.variation_of_id = UUID(row.variation_of) if row.variation_of else None
    post.variation, post.variation_weight = row.variation, row.variation_weight
    post.variation_running = row.variation_running and job.mode != Mode.PROPOSE
    return post, document


def _set_paths(new: Sequence[InsertedPost]) -> None:
    """Set the paths of new posts with the URL patterns of this installation."""
    tree = {one.post.pk: (one.post.slug, one.post.parent_id) for one in new}
    missing = {parent for _slug, parent in tree.values() if parent and parent not in tree}
    while missing:
        found = Post.objects.filter(pk__in=missing).values_list("pk", "slug", "parent_id")
        tree |= {pk: (slug, parent) for pk, slug, parent in found}
        above = {tree[pk][1] for pk in missing if pk in tree}
        missing = {parent for parent in above if parent and parent not in tree}
    patterns: dict[tuple[str, str], str] = {}
    for row, post, _document in new:
        if post.variation_of_id is None:
            key = (post.type, post.locale)
            if key not in patterns:
                patterns[key] = pattern_of(*key)
            try:
                post.path = fill_pattern(patterns[key], post, slugs_in(tree, post))
            except CmsError as error:
                raise refused(NAME, title_of(row), error) from error


def finish_imported_posts(rows: Sequence[ArchivedPost], job: ArchiveImport) -> None:
    """Validate new posts after all referenced objects are imported, and store derived data."""
    listed = {row.id: row for row in rows}
    _drop_lost_sources(rows, job)
    _require_globals(rows)
    posts = Post.objects.filter(pk__in=listed).select_related("parent", "variation_of")
    revisions: list[tuple[Revision, Sequence[ProvenanceRow]]] = []
    written: list[tuple[Post, PostDocument | None, PostDocument]] = []
    for post, stored in post_repository.load_many(posts):
        row = listed[str(post.pk)]
        try:
            document = _clean(post, stored, row, job)
        except CmsError as error:
            raise refused(NAME, post.title, error) from error
        written.append((post, None, document))
        writers = row.provenance if job.keeps_history else ()
        revision = Revision(
            post=post,
            version=post.version,
            reason=IMPORTED,
            document=document.to_json(),
            by_id=job.actor.user.pk,
            by_name=job.actor.user.username,
        )
        revisions.append((revision, writers))
    try:
        update_live_references(written)
        update_live_links(written)
        update_field_values(written)
        check_paths_are_free([post for post, _none, _document in written], job.actor)
    except CmsError as error:
        raise refused(NAME, "", error) from error
    # Otherwise the archive's own revisions include the latest one.
    if not (job.reader.manifest.revisions and job.keeps_history):
        Revision.objects.bulk_create([revision for revision, _rows in revisions])
        store_provenance(revisions, job)
    search.reindex([post.pk for post, _none, _document in written])
    made = [(post.pk, event_payload(post)) for post, _none, _document in written]
    outbox.record_all("post.created", made, actor=job.actor)
    live = [
        (post.pk, event_payload(post))
        for post, _none, _document in written
        if post.status == Status.PUBLISHED
    ]
    outbox.record_all("post.published", live, actor=job.actor)


def require_parents(ids: Iterable[str]) -> None:
    """Raise `ArchiveError` for a missing parent. Runs before other rules, which walk up the tree."""
    there = Exists(Post.objects.filter(pk=OuterRef("parent_id")))
    for part in batches(ids):
        lost = Post.objects.filter(~there, pk__in=part).exclude(parent_id=None)
        for title, parent_id in lost.values_list("title", "parent_id")[:1]:
            error = invalid("parentId", _("No post has the ID %(value)s.") % {"value": parent_id})
            raise refused(NAME, title, error)


def _drop_lost_sources(rows: Sequence[ArchivedPost], job: ArchiveImport) -> None:
    named = {row.translated_from for row in rows} | {row.variation_of for row in rows}
    wanted = [id_ for id_ in named if id_]
    found = {str(pk) for pk in Post.objects.filter(pk__in=wanted).values_list("pk", flat=True)}
    for row in rows:
        if row.variation_of is not None and row.variation_of not in found:
            raise ArchiveError(
                _(
                    "The original of the variation %(title)r is neither in the archive nor on this "
                    "site."
                )
                % {"title": title_of(row)}
            )
        if row.translated_from == row.id:
            text = _("%(title)s: a post cannot be a translation of itself.")
            raise ArchiveError(text % {"title": title_of(row)})
        if row.translated_from is not None and row.translated_from not in found:
            Post.objects.filter(pk=row.id).update(translated_from=None)
            CopyOrigin.objects.filter(post=UUID(row.id)).delete()
            job.note(
                _(
                    "%(title)s: the source of this translation is neither in the "
                    "archive nor on this site, so it is imported as an original."
                )
                % {"title": title_of(row)}
            )


def _require_globals(rows: Sequence[ArchivedPost]) -> None:
    """Raise `ArchiveError` if a global module of a post is missing. A placement without it can't be loaded."""
    placed = {
        (module["moduleInstanceId"], module["type"], module["globalSlug"]): row
        for row in rows
        for module in row.document["modules"]
        if module["scope"] == "global"
    }
    # Type and slug must match too, so that a placement never shows another module.
    there = ModuleInstance.objects.filter(
        pk__in={id_ for id_, _type, _slug in placed}, scope="global"
    )
    known = {
        (str(pk), type_, slug) for pk, type_, slug in there.values_list("pk", "type", "global_slug")
    }
    for place in placed.keys() - known:
        raise ArchiveError(
            _("%(title)s: the global module %(slug)r is neither in the archive nor on this site.")
            % {"title": title_of(placed[place]), "slug": place[2]}
        )


def _clean(post: Post, stored: PostDocument, row: ArchivedPost, job: ArchiveImport) -> PostDocument:
    document, notes = clean_document(
        post, empty_archive_document(post, stored), stored, keeps_undefined=job.keeps_history
    )
    for note in notes:
        job.note(f"{post.title}: {note}")
    changes = diff(stored, document)
    if changes:
        updated_at = post.updated_at
        post_repository.save(post, stored, document, changes)
        post.save()
        # `save()` set `updated_at` to now; this restores the archived time.
        Post.objects.filter(pk=post.pk).update(updated_at=updated_at)
        job.note(
            _("%(title)s: converted to the format of this version: %(paths)s.")
            % {"title": post.title, "paths": ", ".join(changes.paths[:5])}
        )
    return document


def apply_archived_post(
    row: ArchivedPost, post: Post, live: PostDocument, job: ArchiveImport
) -> None:
    """Apply the archived version to an existing post, or stage it in Review."""
    if (post.type, post.locale) != (row.type, row.locale):
        sentence = _("The post has another type or language on this site.")
        job.leave_out(NAME, post.title, row.id, sentence)
        return
    try:
        archived = adopt_modules(read_document(row.document, job, row.type, row.locale), live)
        archived = keep_missing_fields(archived, row.document, live)
    except RuleViolation as error:
        raise refused(NAME, post.title, error) from error
    # An import doesn't change the schedule of an existing post.
    archived = archived.with_fields({name: live.fields.get(name) for name in SCHEDULE_FIELDS})
    changes = diff(live, archived)
    for change in changes:
        before, after = _report_value(change.before), _report_value(change.after)
        module = archived.module(change.module_id or "") or live.module(change.module_id or "")
        type_name = module.type if module is not None else post.type
        job.differ(NAME, post.title, change.path, before, after, type_name)
    moves = row.status != post.status and not row.variation_of
    if moves:
        job.differ(NAME, post.title, "status", post.status, row.status)
    waiting = _waiting_paths(post, live, archived, changes) if changes else frozenset()
    if waiting:
        job.conflict(
            _("Other changes to the same fields are waiting in Review: %(paths)s.")
            % {"paths": ", ".join(sorted(waiting)[:5])}
        )
    elif (changes or moves) and post.updated_at > read_moment(row.updated_at):
        job.conflict(_("The version here is newer than the one in the archive."))
    if job.mode == Mode.UPDATE:
        _update(row, post, changes, moves, job)
        return
    # Changes that users have already staged are not overwritten.
    changes = changes.only(set(changes.paths) - waiting)
    if not changes:
        moves = moves or bool(waiting)
        outcome = Outcome.KEPT if moves else Outcome.UNCHANGED
        job.tell(NAME, outcome, post.title, row.id)
        return
    with job.writing(NAME, post.title, row.id, is_here=True):
        staged = stage(
            post_id=post.pk,
            layer=Layer.REVIEW,
            actor=job.actor,
            edit=lambda document: apply(document, changes),
        )
        outcome = Outcome.PROPOSED if staged.paths else Outcome.UNCHANGED
        job.tell(NAME, outcome, post.title, row.id)


def _waiting_paths(
    post: Post, live: PostDocument, archived: PostDocument, changes: Changes
) -> frozenset[str]:
    """Return the changed paths where Review already holds another value than the archive."""
    drafts = Draft.objects.filter(post=post, layer=Layer.REVIEW, is_empty=False)
    document = drafts.values_list("document", flat=True).first()
    if document is None:
        return frozenset()
    staged = PostDocument.from_json(document)
    own = set(diff(live, staged).paths) & set(changes.paths)
    return frozenset(path for path in own if value_at(staged, path) != value_at(archived, path))


def _update(
    row: ArchivedPost, post: Post, changes: Changes, moves: bool, job: ArchiveImport
) -> None:
    if not changes and not moves:
        job.tell(NAME, Outcome.UNCHANGED, post.title, row.id)
        return
    with job.writing(NAME, post.title, row.id, is_here=True):
        edit_post(
            post_id=post.pk,
            actor=job.actor,
            edit=lambda document: apply(document, changes),
            status=row.status if moves else None,
        )
        job.tell(NAME, Outcome.UPDATED, post.title, row.id)


def _report_value(value: object) -> Json:
    """Return a value for the report: a module as its type, a missing value as None."""
    if isinstance(value, ModuleDocument):
        return value.type
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str | int | float | bool | dict | list) else None
