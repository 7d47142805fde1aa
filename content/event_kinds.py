"""Kinds of events of posts and other page content."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_VIEW: Final = "posts.view"

KINDS = (
    # Webhooks
    EventKind("post.created", "Post created", _VIEW, is_live=True, is_webhook=True),
    EventKind("post.updated", "Post updated", _VIEW, is_live=True, is_webhook=True),
    EventKind("post.published", "Post published", _VIEW, is_live=True, is_webhook=True),
    EventKind("post.deleted", "Post moved to the trash", _VIEW, is_live=True, is_webhook=True),
    EventKind("post.restored", "Post restored", _VIEW, is_live=True, is_webhook=True),
    # Scopes of agents
    EventKind("post.publish", "Publishing", _VIEW, is_trigger=True),
    EventKind("post.approve", "Changes went live", _VIEW, is_trigger=True),
    EventKind("post.review.save", "Saved to Review", _VIEW, is_trigger=True),
    EventKind("post.review.approve", "Changes in Review approved", _VIEW, is_trigger=True),
    EventKind("post.ai-review.save", "Proposed in AI Review", _VIEW, is_trigger=True),
    EventKind(
        "post.ai-review.approve", "Changes in AI Review submitted to Review", _VIEW, is_trigger=True
    ),
    EventKind("post.create-translation", "Translation created", _VIEW, is_trigger=True),
    # What else people do
    EventKind("post.review.reject", "Changes in Review rejected", _VIEW),
    EventKind("post.ai-review.reject", "Changes in AI Review rejected", _VIEW),
    EventKind("post.review.reconsider", "Rejection in Review undone", _VIEW),
    EventKind("post.ai-review.reconsider", "Rejection in AI Review undone", _VIEW),
    EventKind("post.ai-review.withdraw", "Withdrawn from AI Review", _VIEW),
    EventKind("post.schedule-failed", "Scheduled post not published", _VIEW),
    EventKind("post.purged", "Post permanently deleted", "posts.delete"),
    EventKind("post.moved", "Address changed", _VIEW, is_live=True),
    EventKind("post.tree-moved", "Addresses below updated", _VIEW),
    EventKind("post.translation-checked", "Translation marked as up to date", _VIEW),
    EventKind("post.variation.changed", "Share of a variation changed", _VIEW, is_live=True),
    EventKind("post.variation.started", "Variation started", _VIEW, is_live=True),
    EventKind("post.variation.stopped", "Variation stopped", _VIEW, is_live=True),
    EventKind("post.exported", "Post exported", _VIEW),
    EventKind("content.changed", "Content changed", _VIEW, is_live=True),
    EventKind("content.migrated", "Content carried over", "settings.manage", is_live=True),
    EventKind("inbox.batch.begun", "Bulk review started", _VIEW),
    EventKind("inbox.batch.cancelled", "Bulk review cancelled", _VIEW),
    EventKind("inbox.batch.ended", "Bulk review finished", _VIEW),
    EventKind("posts.job-ended", "Background job finished", _VIEW),
    EventKind("module-group.created", "Module group created", _VIEW),
    EventKind("module-group.updated", "Module group changed", _VIEW),
    EventKind("module-group.deleted", "Module group deleted", _VIEW),
    EventKind("database.replaced", "Text replaced", "database.manage"),
    EventKind("database.undone", "Replacement undone", "database.manage"),
    EventKind("urlPattern.changed", "URL pattern changed", "urlPatterns.edit"),
    EventKind("search.stale", "Search updated", "settings.manage", is_internal=True),
)
