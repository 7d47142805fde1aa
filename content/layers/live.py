"""The write of live content: rows, version, revisions, provenance, URL paths and events together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from content.document.changes import Changes, diff
from content.document.document import PostDocument
from content.models import ModuleInstance, Post, PostModule, Provenance, Revision
from content.paths.tree_changes import Following, check_below, update_descendant_paths
from content.post_checks.results import require_live_change, require_publishable
from content.rules.check import check_parent, unique_constraint_error
from content.rules.publication_gates import before_live_edit, before_publication
from content.store import post_repository, search
from content.store.content_links import update_live_links
from content.store.field_values import update_field_values
from content.store.layer_state import (
    Attribution,
    Marks,
    drafts_of_many,
    event_payload,
    mark_of,
    parts_of,
    settle,
)
from content.store.media_usage import update_live_references
from content.store.post_paths import check_paths_are_free, path_for, record_moves, set_path
from content.store.publish_permissions import PUBLISH
from content.store.scopes import require_written_in_scope
from content.store.search import keep_words
from content.store.translation_status import forget_translated_paths, update_copy_origin
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.caching.content_tags import (
    ANY_TYPE,
    tag_of_group,
    tag_of_list,
    tag_of_path,
    tag_of_post,
)
from proofroom.core.database.compiled_queries import new_instance
from proofroom.core.database.inserts import insert_rows, upsert_rows
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject

_WITHOUT_GATE: Final = frozenset({"approved", "promoted"})
"""Reasons of live writes whose content has passed a gate before."""


def write_live(
    *,
    post: Post,
    before: PostDocument,
    after: PostDocument,
    actor: Actor,
    reason: str,
    marks: Marks | None = None,
    source_hashes: Mapping[str, str] | None = None,
    note: str = "",
    causes: Iterable[str] = (),
    live_cause: str = "",
    has_revision: bool | None = None,
) -> Revision | None:
    """Make `after` the live content of a locked post, inside the caller's transaction.

    Saves a revision of the new content, one of the old content if it has none, and a provenance row per changed
    path, and records `post.updated`, `post.approve` and then `causes`. Returns None if nothing changed.

    `marks`: authors by path; the actor is the author of all other paths. `source_hashes`: for a translation, hashes
    of its source values, overriding hashes in the marks. `live_cause`: cause to name in `content.changed`, if the
    content was not edited just now. `has_revision`: whether the current version has a revision, if known.
    """
    actor.require_person("change live content")
    changes = diff(before, after)
    if len(changes) == 0:
        return None
    if "post.publishAt" in changes.paths and after.fields.get("publishAt") is not None:
        actor.require(PUBLISH)
        require_publishable(post, after)
        before_publication(post, lambda: after)
    if "post.unpublishAt" in changes.paths:
        # To remove the time keeps the post on the site for longer.
        actor.require(PUBLISH)
    require_live_change([(post, before, after)])
    if reason not in _WITHOUT_GATE:
        before_live_edit(post, before, after)
    if has_revision is None:
        has_revision = post.revisions.filter(version=post.version).exists()
    # Without a revision, the current version could not be restored.
    missing_revisions = [] if has_revision else [revision_before(post, before)]
    post_repository.save(post, before, after, changes)
    may_move = not {"post.slug", "post.parentId"}.isdisjoint(changes.paths)
    moves = set_path(post, path_for(post)) if may_move else []
    if moves and post.canonical_url != after.fields.get("canonicalUrl"):
        # `set_path` changed a canonical URL that pointed to the post itself.
        after = after.with_fields({"canonicalUrl": post.canonical_url})
        changes = diff(before, after)
    post.version += 1
    if not post.is_placeholder:
        made_from = {path: mark.source_hash for path, mark in (marks or {}).items()}
        made_from |= source_hashes or {}
        update_copy_origin(post, after, changes, made_from)
    else:
        forget_translated_paths(post, after)
    # The live title is the placeholder until a title is approved.
    post.is_placeholder = post.is_placeholder and "post.title" not in changes.paths
    if post.is_placeholder and post.publish_at is not None:
        raise invalid(
            "publishAt",
            _("Approve the title first. Posts created by an agent start with a placeholder."),
        )
    _save(post, changes, actor)
    # Variations share the slug of their original.
    if "post.slug" in changes.paths:
        post.variations.update(slug=post.slug)
    update_live_references([(post, before, after)])
    update_live_links([(post, before, after)])
    update_field_values([(post, before, after)])
    post_repository.update_author_rows([(post, before, after)])
    following = update_descendant_paths(post, actor) if moves else Following()
    moves += following.moves
    revision = revision_row(post, after, changes, actor, reason, note)
    provenance = provenance_rows(post, revision, changes, actor, marks or {})
    # One call, because PostgreSQL then inserts all these rows in one statement.
    insert_rows(
        [*missing_revisions, revision], provenance, updates=search.words_of_post(post, after)
    )
    outbox.record_each(
        ("post.updated", "post.approve", *causes),
        actor=actor,
        post_id=post.pk,
        payload=event_payload(post, changes, cause=live_cause),
        tags=tags_of(post),
    )
    # Recording events locked the content version, so live writes are serialised from here. Check the tree again:
    # other writes since the first check are visible now.
    record_moves(moves, actor, recorded=[post.pk])
    check_paths_are_free([move.post for move in moves], actor)
    if following.is_left:
        check_below(post, actor)
    if "post.parentId" in changes.paths:
        check_parent(post, post.parent_id)
    require_written_in_scope(post, actor)  # at its new place
    return revision


def _save(post: Post, changes: Changes, actor: Actor) -> None:
    if {"post.slug", "post.parentId"}.isdisjoint(changes.paths):
        post.save(force_update=True)
        return
    try:
        # A savepoint, so that the query for the other post still works after the error.
        with transaction.atomic():
            post.save(force_update=True)
    except IntegrityError:
        # Two writers can choose the same slug between the check and this write. The unique constraint decides.
        raise unique_constraint_error(post, actor) from None


def revision_before(post: Post, document: PostDocument) -> Revision:
    """Return the unsaved revision for a version without one, before it is overwritten."""
    return Revision(post=post, version=post.version, reason="before", document=document.to_json())


def revision_row(
    post: Post, document: PostDocument, changes: Changes, actor: Actor, reason: str, note: str = ""
) -> Revision:
    """Return the unsaved revision of the post's current version."""
    return new_instance(
        Revision,
        post_id=post.pk,
        version=post.version,
        reason=reason,
        document=document.to_json(),
        changed_paths=list(changes.paths),
        note=note,
        by_id=actor.user.pk,
        by_name=actor.user.username,
        agent_id=actor.agent_id or "",
        run_id=actor.run_id or "",
    )


def provenance_rows(
    post: Post, revision: Revision, changes: Changes, actor: Actor, marks: Marks
) -> list[Provenance]:
    """Return an unsaved row for each changed path."""
    own, now = Attribution.of(actor), timezone.now()
    by_id, by_name = actor.user.pk, actor.user.username
    written: Marks = {}
    for change in changes:
        written[change.path] = mark_of(marks, change.path) or own
        if change.kind == "added":
            # Other authors may have written parts of the module before it was published.
            written |= parts_of(marks, change.path)
    return [
        new_instance(
            Provenance,
            post_id=post.pk,
            revision_id=revision.pk,
            path=path,
            author_id=mark.user_id,
            author_name=mark.user,
            agent_id=mark.agent_id,
            run_id=mark.run_id,
            via=mark.via,
            principal=mark.principal,
            edited_by_name=mark.edited_by,
            approved_by_id=by_id,
            approved_by_name=by_name,
            written_at=parse_datetime(mark.at) or now,
        )
        for path, mark in written.items()
    ]


def tags_of(post: Post) -> list[str]:
    """Return the cache tags of everything that visitors see differently when this post changes or is published."""
    tags = [
        tag_of_post(post.pk),
        tag_of_group(post.translation_group),
        tag_of_path(post.path),
        tag_of_list(post.type),
        tag_of_list(ANY_TYPE),
    ]
    # Visitors see a running variation in place of its original.
    return [*tags, tag_of_post(post.variation_of_id)] if post.variation_of_id else tags


@dataclass(frozen=True, slots=True)
class Written:
    """The new state of a locked post."""

    post: Post
    before: PostDocument
    after: PostDocument
    changes: Changes

    def payload(self) -> JsonObject:
        return event_payload(self.post, self.changes)


def write_many(
    written: Sequence[Written], *, actor: Actor, reason: str, is_update: bool = True
) -> None:
    """Make each `after` the live content as `write_live` does, in a fixed number of statements.

    Runs inside the caller's transaction, with revisions and provenance. The caller then calls `record_updates`.
    Only for changes of values: of fields except slug and parent, of props and of overrides. With `is_update` False
    the posts keep their modification date, for posts that only make room for another one.
    """
    actor.require_person("change live content")
    if not written:
        return
    rewrites = [(item.post, item.before, item.after) for item in written]
    require_live_change(rewrites)
    for rewrite in rewrites:
        before_live_edit(*rewrite)
    _add_missing_revisions(written)
    for item in written:
        item.post.version += 1
    now, columns = timezone.now(), set[str]()
    dated = {"updated_at": now} if is_update else {}
    for item in written:
        if is_update:
            item.post.updated_at = now
        columns |= post_repository.set_fields(item.post, item.after, item.changes)
    Post.objects.filter(pk__in=[item.post.pk for item in written]).update(
        version=F("version") + 1, **dated
    )
    if columns:
        # The statement has a CASE per post for each column, so include only columns that changed.
        changed = [
            item.post
            for item in written
            if any(change.module_id is None for change in item.changes)
        ]
        Post.objects.bulk_update(changed, sorted(columns), batch_size=100)
    _save_modules(written)
    update_live_references(rewrites)
    update_live_links(rewrites)
    update_field_values(rewrites)
    post_repository.update_author_rows(rewrites)
    revisions = [
        revision_row(item.post, item.after, item.changes, actor, reason) for item in written
    ]
    provenance = [
        row
        for item, revision in zip(written, revisions, strict=True)
        for row in provenance_rows(item.post, revision, item.changes, actor, {})
    ]
    insert_rows(revisions, provenance)
    drafts = drafts_of_many([item.post for item in written])
    for item in written:
        if item.post.pk in drafts:
            settle(item.post, item.after, drafts[item.post.pk])


def record_updates(things: Sequence[tuple[UUID, JsonObject]], *, actor: Actor) -> None:
    """Record the events of written posts (id and payload) and update search.

    Call it after all other writes, because recording events serialises live writes.
    """
    keep_words([post_id for post_id, _ in things], actor)
    for name in ("post.updated", "post.approve"):
        outbox.record_all(name, things, actor=actor)


def _add_missing_revisions(written: Sequence[Written]) -> None:
    """Save a revision of the current version of each post that has none."""
    same = Revision.objects.filter(post=OuterRef("pk"), version=OuterRef("version"))
    ids = [item.post.pk for item in written]
    missing = set(Post.objects.filter(~Exists(same), pk__in=ids).values_list("pk", flat=True))
    insert_rows(
        [revision_before(item.post, item.before) for item in written if item.post.pk in missing]
    )


def _save_modules(written: Sequence[Written]) -> None:
    """Save changed props and overrides. Existing rows are overwritten in one statement for all posts."""
    instances: list[ModuleInstance] = []
    places: list[PostModule] = []
    for item in written:
        parts = {change.module_id: set[str]() for change in item.changes if change.module_id}
        for change in item.changes:
            if change.module_id:
                parts[change.module_id].add(change.path.split(".")[2])
        for index, module in enumerate(item.after.modules):
            touched = parts.get(module.id, set())
            if "props" in touched:
                instances.append(post_repository.instance(module))
            if "overrides" in touched:
                places.append(post_repository.placement(item.post, module, index))
    post_repository.write_over_instances(instances)
    upsert_rows(places, ["overrides"])
