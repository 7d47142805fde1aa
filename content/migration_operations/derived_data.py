"""Updates of derived data after content migrations, run when all tables have the current schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from content.inbox.rows import rebuild
from content.models import ContentMigration, Draft, Post
from content.store import post_repository, search
from content.store.content_links import rebuild_links
from content.store.field_values import rebuild_field_values
from content.store.layer_state import drafts_of_many, settle
from content.store.media_usage import rebuild_references
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.batches import batches

_BATCH: Final = 100


@transaction.atomic
def follow_content_migrations() -> int:
    """Update search, references and inbox, record the event, and invalidate cached pages.

    Return the number of migrations.

    Called after `migrate`. Does nothing if no content migration is open.
    """
    # Locked, so that two processes after `migrate` don't both update the data.
    open_ones = list(ContentMigration.objects.select_for_update().filter(followed_at=None))
    if not open_ones:
        return 0
    _settle_drafts({UUID(id_) for migration in open_ones for id_ in migration.post_ids})
    search.reindex({UUID(id_) for migration in open_ones for id_ in migration.post_ids})
    rebuild_references()
    rebuild_links()
    rebuild_field_values()
    rebuild()
    for migration in open_ones:
        migration.followed_at = timezone.now()
        migration.save(update_fields=["followed_at"])
        outbox.record(
            "content.migrated",
            actor=Actor(user=SYSTEM, via="system"),
            payload={
                "type": migration.type,
                "changed": migration.changed,
                "migration": str(migration.pk),
            },
        )
    return len(open_ones)


def _settle_drafts(ids: Collection[UUID]) -> None:
    """Remove changes from drafts that were deleted or now equal the live content."""
    for part in batches(sorted(ids), _BATCH):
        drafts = Draft.objects.filter(post__in=part, is_empty=False)
        rows = Post.objects.filter(pk__in=drafts.values("post")).order_by("pk")
        posts = list(rows.select_for_update(of=("self",), no_key=True))
        stored = drafts_of_many(posts)
        for post, live in post_repository.load_many(posts):
            settle(post, live, stored[post.pk])
