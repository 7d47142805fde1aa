"""The write of live content for many posts at once: what `write_live` does, in a fixed number of statements.

Only for changes of texts in place: fields but for the slug and the parent, props and overrides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from content.changes import Changes
from content.document import PostDocument
from content.layers.live import event_payload, provenance_rows, revision_row
from content.layers.state import drafts_of_many, settle_with
from content.media_usage.references import follow_live
from content.models import ModuleInstance, Post, PostModule, Provenance, Revision
from content.posts import post_repository
from content.search.updates import keep_words
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject

_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Written:
    """The new state of a locked post."""

    post: Post
    before: PostDocument
    after: PostDocument
    changes: Changes

    def payload(self) -> JsonObject:
        return event_payload(self.post, self.changes)


def write_many(written: Sequence[Written], *, actor: Actor, reason: str) -> None:
    """Make each `after` the live content, inside the caller's transaction, with revision, provenance and events."""
    actor.require_person("change live content")
    if not written:
        return
    _keep_revisions(written)
    for item in written:
        item.post.version += 1
    _save_posts(written)
    _save_modules(written)
    follow_live([(item.post, item.before, item.after) for item in written])
    revisions = Revision.objects.bulk_create(
        [revision_row(item.post, item.after, item.changes, actor, reason) for item in written],
        batch_size=_ROWS,
    )
    Provenance.objects.bulk_create(
        (
            row
            for item, revision in zip(written, revisions, strict=True)
            for row in provenance_rows(item.post, revision, item.changes, actor, {})
        ),
        batch_size=_ROWS,
    )
    drafts = drafts_of_many([item.post for item in written])
    for item in written:
        if item.post.pk in drafts:
            settle_with(item.post, item.after, drafts[item.post.pk])


def record_updates(things: Sequence[tuple[UUID, JsonObject]], *, actor: Actor) -> None:
    """Record the events of posts that were written, by id and payload, and have search follow: the last of the
    writes, for live writers queue up at the events."""
    keep_words([post_id for post_id, _ in things], actor)
    for name in ("post.updated", "post.approve"):
        outbox.record_all(name, things, actor=actor)


def _keep_revisions(written: Sequence[Written]) -> None:
    """Make sure that the present version of each post has its revision."""
    same = Revision.objects.filter(post=OuterRef("pk"), version=OuterRef("version"))
    ids = [item.post.pk for item in written]
    lacking = Post.objects.filter(~Exists(same), pk__in=ids).values_list("pk", flat=True)
    missing = set(lacking)
    Revision.objects.bulk_create(
        (
            Revision(
                post=item.post,
                version=item.post.version,
                reason="before",
                document=item.before.to_json(),
            )
            for item in written
            if item.post.pk in missing
        ),
        batch_size=_ROWS,
    )


def _save_posts(written: Sequence[Written]) -> None:
    """The version of each post, and the columns of those whose fields changed."""
    now, columns = timezone.now(), set[str]()
    for item in written:
        item.post.updated_at = now
        columns |= post_repository.set_fields(item.post, item.after, item.changes)
    posts = Post.objects.filter(pk__in=[item.post.pk for item in written])
    posts.update(version=F("version") + 1, updated_at=now)
    changed = [
        item.post for item in written if any(change.module_id is None for change in item.changes)
    ]
    if columns:
        # Each column costs a case per post in the statement: only those that changed anywhere.
        Post.objects.bulk_update(changed, sorted(columns), batch_size=100)


def _save_modules(written: Sequence[Written]) -> None:
    """Props and overrides. Rows that are there are written over, which takes one statement for all."""
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
                instances.append(
                    ModuleInstance(
                        id=module.instance_id,
                        type=module.type,
                        scope=module.scope,
                        props=dict(module.props),
                        updated_at=item.post.updated_at,
                    )
                )
            if "overrides" in touched:
                places.append(post_repository.placement(item.post, module, index))
    ModuleInstance.objects.bulk_create(
        instances,
        batch_size=_ROWS,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["props", "updated_at"],
    )
    PostModule.objects.bulk_create(
        places,
        batch_size=_ROWS,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["overrides"],
    )
