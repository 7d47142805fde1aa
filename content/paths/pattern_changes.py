"""The stored paths of posts follow a pattern that changed: a few at a time, each batch whole, safe to run twice."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.db import transaction

from content.models import Post, UrlPattern
from content.paths.post_paths import (
    Move,
    Tree,
    fill_pattern,
    find_posts_at,
    path_taken,
    pattern_of,
    record_moves,
    refuse_reserved,
    save_paths,
    set_path,
    slugs_in,
)
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.models import Event
from proofroom.definitions import post_types

logger = logging.getLogger(__name__)
BATCH_SIZE: Final = 200
"""Posts that move in the request that changes their pattern, and in each transaction of a worker."""


def move_all(type_name: str, locale: str, actor: Actor) -> int:
    """Give every post of a type and locale the path of the pattern that stands now. Answers how many moved."""
    total, after = 0, UUID(int=0)
    while True:
        last, moved = _move_batch(type_name, locale, actor, after)
        total += moved
        if last is None:
            return total
        after = last


@transaction.atomic
def _move_batch(type_name: str, locale: str, actor: Actor, after: UUID) -> tuple[UUID | None, int]:
    """Move the next batch; the last id, None at the end, and how many moved."""
    rows = Post.objects.select_for_update(of=("self",), no_key=True)
    rows = rows.filter(type=type_name, locale=locale, variation_of=None, pk__gt=after).order_by(
        "pk"
    )
    posts = list(rows[:BATCH_SIZE])
    # Read when the posts are locked: a pattern that changed again since is the one to follow.
    pattern, tree = pattern_of(type_name, locale), tree_of(type_name, locale)
    moves: list[Move] = []
    for post in posts:
        moves += set_path(post, fill_pattern(pattern, post, slugs_in(tree, post)))
    save_paths([move.post for move in moves])
    record_moves(moves, actor)
    return (posts[-1].pk if len(posts) == BATCH_SIZE else None), len(moves)


def tree_of(type_name: str, locale: str) -> Tree:
    definition = post_types.get(type_name)
    if definition is None or not definition.hierarchical:
        return {}
    rows = Post.objects.filter(type=type_name, locale=locale).values_list("pk", "slug", "parent_id")
    return {pk: (slug, parent) for pk, slug, parent in rows}


def check_addresses(type_name: str, locale: str, pattern: str) -> None:
    """Raise `RuleViolation` on `pattern` where a post would come to the address of another."""
    wanted: dict[str, UUID] = {}
    for post, path in _addresses(type_name, locale, pattern):
        if path in wanted:
            raise path_taken("pattern", post)
        refuse_reserved("pattern", post)
        wanted[path] = post.pk
    for other in find_posts_at(wanted):
        if (other.type, other.locale) != (type_name, locale):
            raise path_taken("pattern", other)


def _addresses(type_name: str, locale: str, pattern: str) -> Iterator[tuple[Post, str]]:
    tree = tree_of(type_name, locale)
    rows = Post.objects.alive().filter(type=type_name, locale=locale)
    names = ("pk", "type", "title", "locale", "slug", "parent_id", "published_at", "created_at")
    for post in rows.only(*names).iterator():
        try:
            path = fill_pattern(pattern, post, slugs_in(tree, post))
        except RuleViolation as error:
            raise invalid("pattern", error.message) from None
        post.path = path
        yield post, path


def follow_pattern(event: Event) -> None:
    """Told of a pattern that changed: do what was left for a worker."""
    follow_pending(UUID(str(event.payload["id"])))


def follow_pending(pattern_id: UUID) -> int:
    """Move the posts of a pattern that is pending, until none is left behind. Answers how many moved."""
    row = UrlPattern.objects.filter(pk=pattern_id, is_pending=True).first()
    actor = _actor_of(row) if row is not None else None
    if row is None or actor is None:
        return 0
    moved = move_all(row.type, row.locale, actor)
    # A change meanwhile has its own event: it is not done by what was read before it.
    done = UrlPattern.objects.filter(pk=pattern_id, version=row.version)
    if row.is_removed:
        done.filter(is_removed=True).delete()
    else:
        done.update(is_pending=False)
    return moved


def _actor_of(row: UrlPattern) -> Actor | None:
    """Whoever changed the pattern; where that account is gone, the first active admin."""
    admins = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk")
    user = row.changed_by or admins.first()
    if user is None:
        logger.warning("the pattern %s is not followed: there is no active admin", row)
        return None
    return Actor(user=user, via="system")
