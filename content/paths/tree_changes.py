"""Path changes of the descendants of a moved post: a few immediately, many in a task in batches.

A post answers at its old path until it is moved. After that the old path redirects to the new one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F

from content.models import Post, TreeMove
from content.models.post import MAX_DEPTH
from content.store.joint_moves import JointMoves, joint_moves
from content.store.post_paths import (
    Move,
    actor_of_move,
    check_paths_are_free,
    fill_pattern,
    find_posts_at,
    path_for,
    pattern_of,
    record_moves,
    save_paths,
    set_path,
    slugs_in,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event

logger = logging.getLogger(__name__)
BATCH_SIZE: Final = 200
"""Maximum number of descendants moved in the request, and number of posts per transaction of a worker."""
MOVED: Final = "post.tree-moved"
_QUERY_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class Following:
    """The posts that moved with a post. `is_left`: there are too many, and a worker moves them."""

    moves: list[Move] = field(default_factory=list)
    is_left: bool = False


def update_descendant_paths(post: Post, actor: Actor) -> Following:
    """Set the paths of all descendants of a post whose path changed, or leave them to a worker."""
    moves = move_descendants(post)
    if moves is not None:
        return Following(moves)
    row, is_new = TreeMove.objects.select_for_update().get_or_create(
        post=post, defaults={"changed_by_id": actor.user.pk}
    )
    # The new version stops a worker that is still busy with the previous move from marking this one as done.
    if not is_new:
        row.version, row.changed_by_id, row.done = row.version + 1, actor.user.pk, 0
        row.save()
    outbox.record(MOVED, actor=actor, payload={"id": str(post.pk), "to": post.path})
    return Following(is_left=True)


def move_descendants(post: Post) -> list[Move] | None:
    """Set the paths of all descendants of a post whose path changed. Return None if there are too many."""
    if len(_ids_below(post.pk, BATCH_SIZE + 1)) > BATCH_SIZE:
        return None
    moves: list[Move] = []
    pattern = cache(pattern_of)
    for level in _levels(post, is_locked=True):
        for child in level:
            moves += set_path(child, path_for(child, pattern(child.type, child.locale)))
        save_paths(level)
    return moves


def _levels(post: Post, *, is_locked: bool) -> Iterator[list[Post]]:
    """Yield the descendants of a post by level, each with its `parent` set."""
    level = [post]
    for _ in range(MAX_DEPTH):
        parents = {parent.pk: parent for parent in level}
        children = Post.objects.filter(parent_id__in=parents).order_by("pk")
        if (moves := joint_moves()) is not None:
            # These get a new place of their own in the same transaction.
            children = children.exclude(pk__in=moves.pending)
        if is_locked:
            # Wait for concurrent writes of a child, and read their result.
            children = children.select_for_update(of=("self",), no_key=True)
        level = list(children)
        if not level:
            return
        for child in level:
            child.parent = parents[child.parent_id] if child.parent_id else None
        yield level


def lock_below(posts: Iterable[Post]) -> None:
    """Lock the descendants of these posts that are moved in this request."""
    # Before the first event of the caller, because recording events locks the content version.
    for post in posts:
        if len(_ids_below(post.pk, BATCH_SIZE + 1)) <= BATCH_SIZE:
            for _ in _levels(post, is_locked=True):
                pass


def check_below(post: Post, actor: Actor) -> None:
    """Raise `RuleViolation` on `slug` if the new path of a descendant is used by another post."""
    if (moves := joint_moves()) is not None:
        moves.trees.append((post.pk, actor))
        return
    pattern = cache(pattern_of)
    for level in _levels(post, is_locked=False):
        for child in level:
            child.path = path_for(child, pattern(child.type, child.locale))
        for begin in range(0, len(level), _QUERY_SIZE):
            check_paths_are_free(level[begin : begin + _QUERY_SIZE], actor)


def check_joint_moves(moves: JointMoves) -> Mapping[UUID, RuleViolation]:
    """Return why the addresses of posts that moved together can't be, by the post that was written.

    For the end of the transaction, after the block of `moving_together`, when all posts have their places.
    """
    found: dict[UUID, RuleViolation] = {}
    by_user: dict[int, tuple[Actor, dict[UUID, UUID]]] = {}
    for written, moved, actor in moves.moved:
        by_user.setdefault(actor.user.pk, (actor, {}))[1][moved] = written
    for actor, pairs in by_user.values():
        for ids in batches(list(pairs), _QUERY_SIZE):
            posts = list(Post.objects.filter(pk__in=ids))
            try:
                check_paths_are_free(posts, actor)
            except RuleViolation:
                # One by one, to learn which of them it is.
                for post in posts:
                    with _noted_in(found, pairs[post.pk]):
                        check_paths_are_free([post], actor)
    for written, actor in moves.trees:
        with _noted_in(found, written):
            check_below(Post.objects.get(pk=written), actor)
    return found


@contextmanager
def _noted_in(found: dict[UUID, RuleViolation], written: UUID) -> Iterator[None]:
    try:
        yield
    except RuleViolation as error:
        found.setdefault(written, error)


def follow_tree(event: Event) -> None:
    """Move the remaining descendants after an event of a moved post."""
    follow_pending(UUID(str(event.payload["id"])))


def follow_pending(post_id: UUID) -> int:
    """Move the descendants of a post. Idempotent. Returns the number of moved posts."""
    row = TreeMove.objects.filter(pk=post_id).first()
    if row is None:
        return 0
    actor = actor_of_move(row.changed_by)
    if actor is None:
        logger.warning(
            "the pages below %s keep their parent: there is no active admin", row.post_id
        )
        return 0
    # A concurrent move changes the version and has its own event, so it must not be marked as done here.
    same_move = TreeMove.objects.filter(pk=post_id, version=row.version)
    ids, moved = _ids_below(post_id), 0
    same_move.update(total=len(ids), done=0)
    for begin in range(0, len(ids), BATCH_SIZE):
        part = ids[begin : begin + BATCH_SIZE]
        moved += _move_batch(part, actor)
        same_move.update(done=F("done") + len(part))
    same_move.delete()
    return moved


@transaction.atomic
def _move_batch(ids: Sequence[UUID], actor: Actor) -> int:
    """Set the current paths of these posts, regardless of what moved them."""
    rows = Post.objects.select_for_update(of=("self",), no_key=True)
    posts = list(rows.filter(pk__in=ids, variation_of=None).order_by("pk"))
    # Read after the lock, so that another change of a parent meanwhile is included.
    tree, pattern = ancestors_of(posts), cache(pattern_of)
    wanted: dict[UUID, str] = {}
    for post in posts:
        try:
            path = fill_pattern(pattern(post.type, post.locale), post, slugs_in(tree, post))
        # One post that cannot move must not block the others.
        except RuleViolation as error:
            logger.warning("post %s keeps its URL: %s", post.pk, error.message)
        else:
            wanted[post.pk] = path
    occupied = {other.path: other.pk for other in find_posts_at(wanted.values())}
    moves: list[Move] = []
    for post in posts:
        path = wanted.get(post.pk, post.path)
        if occupied.get(path, post.pk) == post.pk or post.deleted_at is not None:
            moves += set_path(post, path)
        else:
            logger.warning("post %s keeps its URL: %s is taken", post.pk, path)
    save_paths([move.post for move in moves])
    record_moves(moves, actor)
    return len(moves)


def ancestors_of(posts: Sequence[Post]) -> dict[UUID, tuple[str, UUID | None]]:
    """Return slug and parent id of all ancestors of these posts, by id. One query per level."""
    ancestors: dict[UUID, tuple[str, UUID | None]] = {}
    wanted = {post.parent_id for post in posts if post.parent_id}
    for _ in range(MAX_DEPTH):
        if not wanted:
            break
        rows = Post.objects.filter(pk__in=wanted).values_list("pk", "slug", "parent_id")
        found: dict[UUID, tuple[str, UUID | None]] = {
            pk: (slug, parent) for pk, slug, parent in rows
        }
        ancestors |= found
        wanted = {parent for _, parent in found.values() if parent is not None} - set(ancestors)
    return ancestors


def _ids_below(post_id: UUID, most: int | None = None) -> list[UUID]:
    """Return the ids of the descendants of a post, parents first. If they exceed `most`, only some."""
    ids: list[UUID] = []
    level = [post_id]
    for _ in range(MAX_DEPTH):
        parents, level = level, []
        for begin in range(0, len(parents), _QUERY_SIZE):
            part = parents[begin : begin + _QUERY_SIZE]
            rows = Post.objects.filter(parent_id__in=part).order_by("pk")
            level += rows.values_list("pk", flat=True)[:most]
        if not level:
            break
        ids += level
        if most is not None and len(ids) >= most:
            break
    return ids
