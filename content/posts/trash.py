"""Trash: soft delete, restore, and purge."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from content.layers.revert import is_of_run
from content.models import ModuleInstance, Post, PostModule, Status
from content.paths.tree_changes import ancestors_of
from content.rules.check import check_depth, unique_constraint_error
from content.store.layer_state import event_payload, lock_post, lock_post_in, open_layers
from content.store.media_usage import drop_post_references, restore_post_references
from content.store.page_locks import require_unlocked
from content.store.post_paths import (
    check_paths_are_free,
    find_posts_at,
    path_for,
    record_moves,
    set_path,
)
from content.store.scopes import post_not_found, require_in_scope, require_written_in_scope
from content.store.traffic import stop, stop_variations
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.independent_steps import independent_steps
from proofroom.core.models import Event

_AT_ONCE: Final = 500


@transaction.atomic
def delete_post(*, post_id: UUID | str, actor: Actor) -> Post:
    """Move a post to the trash and stop its A/B test. Its layers, revisions and translations are unchanged."""
    actor.require_person("delete posts")
    actor.require("posts.delete")
    post = lock_post(post_id, actor)
    stop(post, actor)
    stop_variations(post, actor)
    post.deleted_at = timezone.now()
    post.save(update_fields=["deleted_at", "updated_at"])
    drop_post_references(post)
    outbox.record("post.deleted", actor=actor, post_id=post.pk, payload=event_payload(post))
    return post


def find_deleters(post_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the name of the user who last deleted each post, if the event log still has it. One query."""
    events = Event.objects.filter(name="post.deleted", post_id__in=post_ids).order_by("pk")
    return {
        post_id: name
        for post_id, name in events.values_list("post_id", "actor_name")
        if post_id is not None
    }


@transaction.atomic
def restore_post(*, post_id: UUID | str, actor: Actor) -> Post:
    """Restore a post from the trash. A schedule that has passed meanwhile is removed.

    Raises `RuleViolation` on `slug` if its slug or path is in use by now, and on `parentId` if the tree would
    be too deep.
    """
    actor.require_person("restore posts")
    actor.require("posts.restore")
    post = lock_post_in(Post.objects.filter(deleted_at__isnull=False), post_id)
    if post is None:
        raise post_not_found(post_id)
    require_in_scope(post, actor)
    require_unlocked(post, actor)
    if post.variation_of is not None and post.variation_of.deleted_at is not None:
        message = _("The original of this variation is in the trash. Restore it first.")
        raise RuleViolation(message, code="original_deleted")
    if post.parent is not None:
        # The depth check of a move ignores pages in the trash, so the tree above may be deeper by now.
        check_depth(post, 1 + len(ancestors_of([post.parent])))
    post.deleted_at = None
    if post.publish_at is not None and post.publish_at <= timezone.now():
        post.publish_at = None  # restoring a post must not publish it
    # Nor its changes. A time to unpublish stays: what is over must not come back.
    post.scheduled_approvals.filter(at__lte=timezone.now(), failed_at__isnull=True).delete()
    moves = set_path(post, path_for(post))
    try:
        # A savepoint: the error message needs a query, which PostgreSQL refuses after an IntegrityError.
        with transaction.atomic():
            post.save(
                update_fields=["deleted_at", "publish_at", "path", "canonical_url", "updated_at"]
            )
    # The constraint decides whether the path is still free, because a check before would race.
    except IntegrityError:
        raise unique_constraint_error(post, actor) from None
    restore_post_references(post)
    outbox.record_each(
        ("post.restored", "post.published")
        if post.status == Status.PUBLISHED
        else ("post.restored",),
        actor=actor,
        post_id=post.pk,
        payload=event_payload(post),
    )
    # While it was in the trash, another post can have taken a path that it would have moved away from.
    former = [move.before for move in moves if move.before]
    taken = {other.path for other in find_posts_at(former)}
    record_moves(moves, actor, recorded=[post.pk], taken=taken)
    check_paths_are_free([post], actor)
    require_written_in_scope(post, actor)  # its path may have changed
    return post


@transaction.atomic
def discard_proposed(*, post_id: UUID | str, run_id: str, actor: Actor) -> bool:
    """Move a post proposed by a run to the trash, unless a user approved or changed it since.

    Return True if it was moved.
    """
    post = lock_post(post_id, actor)
    if not post.is_placeholder:
        return False
    layers = open_layers(post)
    marks = layers.ai_review.marks.values()
    if layers.review.exists or not all(is_of_run(mark, run_id) for mark in marks):
        return False
    post.deleted_at = timezone.now()
    post.save(update_fields=["deleted_at", "updated_at"])
    drop_post_references(post)
    outbox.record("post.deleted", actor=actor, post_id=post.pk, payload=event_payload(post))
    return True


def purge_trash(*, actor: Actor, days: int) -> int:
    """Delete posts permanently after this many days in the trash, up to 500 per call, and return their number.

    With 0 days nothing is deleted. Posts with child pages are not deleted, because the paths of the children
    depend on them. Safe to run twice, also concurrently.
    """
    actor.require("posts.delete")
    if days < 1:
        return 0
    below = Post.objects.filter(parent=OuterRef("pk"))
    old = Post.objects.filter(deleted_at__lt=timezone.now() - timedelta(days=days))
    due = old.filter(~Exists(below)).order_by("deleted_at", "pk")
    count = 0
    with independent_steps() as step:
        for pk in list(due.values_list("pk", flat=True)[:_AT_ONCE]):
            with step(f"purging the post {pk}"):
                count += _purge(due, pk, actor)
    return count


@transaction.atomic
def _purge(due: QuerySet[Post], post_id: UUID, actor: Actor) -> bool:
    """Delete one post permanently if it is still due. Return True if it was deleted."""
    post = lock_post_in(due, post_id)
    if post is None:
        return False
    payload = event_payload(post)
    # Collected before the delete, which cascades to the placements.
    own = PostModule.objects.filter(Q(post=post) | Q(post__variation_of=post))
    own = own.exclude(instance__scope="global")
    instances = list(own.values_list("instance_id", flat=True))
    post.delete()
    ModuleInstance.objects.filter(pk__in=instances, placements__isnull=True).delete()
    outbox.record("post.purged", actor=actor, post_id=post_id, payload=payload)
    return True
