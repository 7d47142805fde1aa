"""Events that this app follows, each in a transaction after the one that recorded it."""

from __future__ import annotations

from content.paths import tree_changes
from content.paths.url_patterns import follow_pattern
from content.store import indirect_updates, search
from proofroom.core import outbox


def subscribe() -> None:
    """Subscribe to the events. The ids are stored with events that are not delivered yet: never change one."""
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
