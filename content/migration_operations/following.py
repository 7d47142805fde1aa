"""What is derived from content follows a content migration, once every table is as this version has it."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from content import search
from content.inbox.rows import rebuild
from content.media_usage import rebuild_references
from content.models import ContentMigration
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor


@transaction.atomic
def follow_content_migrations() -> int:
    """Bring search, references and the inbox up to date, record the event, and make cached pages old.

    Called after `migrate`, and does nothing where nothing is left to follow. Returns how many migrations there were.
    """
    open_ones = list(ContentMigration.objects.select_for_update().filter(followed_at=None))
    if not open_ones:
        return 0
    search.reindex({UUID(id_) for migration in open_ones for id_ in migration.post_ids})
    rebuild_references()
    rebuild()
    for migration in open_ones:
        migration.followed_at = timezone.now()
        migration.save(update_fields=["followed_at"])
        outbox.record(
            "content.migrated",
            actor=Actor(user=SYSTEM, via="system"),
            payload={"type": migration.type, "changed": migration.changed},
        )
    return len(open_ones)
