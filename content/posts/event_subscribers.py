"""Subscriptions of this app to events. Most run in tasks, outside of a transaction."""

from __future__ import annotations

from content.paths import tree_changes
from content.paths.url_patterns import follow_pattern
from content.store import indirect_updates, live_changes, search
from content.store.author_names import invalidate_names
from proofroom.core import outbox


def subscribe() -> None:
    """Subscribe to the events. Never change an id: it is stored with events that are partly delivered."""
    outbox.subscribe_in_transaction(["user.changed"], invalidate_names)
    outbox.subscribe(
        ["urlPattern.changed"],
        follow_pattern,
        id="content.pattern_moves.follow_pattern",
        apart=True,
    )
    outbox.subscribe(
        [tree_changes.MOVED],
        tree_changes.follow_tree,
        id="content.tree_moves.follow_tree",
        apart=True,
    )
    outbox.subscribe(
        [search.STALE], search.follow, id="content.search_following.follow", apart=True
    )
    outbox.subscribe(
        indirect_updates.CAUSES,
        indirect_updates.follow_cause,
        id="content.posts.indirect_updates.follow_cause",
        apart=True,
    )
    outbox.subscribe_to_many(
        live_changes.live_kinds(),
        live_changes.record_live_changes,
        id="content.live_changes.record_live_changes",
    )
