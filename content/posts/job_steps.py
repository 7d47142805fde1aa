"""The steps of post jobs, and how to undo them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.models import JobKind, JobOutcome, Post, PostJob, PostJobItem, Status
from content.posts.bulk_edit import run_bulk_edit, undo_bulk_edit
from content.posts.copy import copy_below
from content.posts.publish import move_status
from content.posts.trash import delete_post
from content.posts.undo import record_status, restore_status, undo_delete, undo_restore
from content.store.layer_state import lock_post
from proofroom.core.actor import Actor
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import CmsError, NotAllowed

logger = logging.getLogger(__name__)
Items = Sequence[PostJobItem]
DEFECT_TEXT: Final = gettext_lazy(
    "Something went wrong with this post. Try it on its own, or check the log."
)


@dataclass(frozen=True, slots=True)
class JobStep:
    """A kind of job: its permission, the number of posts per transaction, and its steps.

    `run` handles waiting items, `undo` one finished item; both save the outcome in the items.
    """

    permission: str
    at_a_time: int
    run: Callable[[PostJob, Items, Actor], None]
    undo: Callable[[PostJobItem, Actor], None]


def _copy(job: PostJob, items: Items, actor: Actor) -> None:
    """Copy pages below the copies of their parents, level by level."""
    pages = [item.post for item in items]
    rows = Post.objects.alive().filter(pk__in=pages).values_list("pk", "parent_id")
    parents: dict[UUID, UUID | None] = dict(rows)
    known = job.items.filter(post__in=set(parents.values()), made__isnull=False)
    made: dict[UUID | None, UUID] = {
        post: copy for post, copy in known.values_list("post", "made") if copy is not None
    }
    waiting = list(items)
    while level := [item for item in waiting if parents.get(item.post) in made]:
        waiting = [item for item in waiting if item not in level]
        below = {item.post: made[parents[item.post]] for item in level}
        _copy_level(level, below, actor)
        made |= {item.post: item.made for item in level if item.made is not None}
    for item in waiting:
        why = _(
            "The parent page was not copied, or this page was moved or deleted in the meantime."
        )
        item.outcome, item.why = JobOutcome.REFUSED, why


def _copy_level(items: Items, below: Mapping[UUID, UUID], actor: Actor) -> None:
    """Copy pages of one level. If that fails, copy them one by one, so that only the failing pages are refused."""
    try:
        # A savepoint: a failed level is undone before its pages are copied one by one.
        with transaction.atomic():
            copies = copy_below(below={item.post: below[item.post] for item in items}, actor=actor)
    # These errors concern the whole job, not single pages. The runner handles them.
    except (NotAllowed, *DATABASE_UNREACHABLE):
        raise
    # Any defect of one page must not stop the others; `_explain` logs it.
    except Exception as error:
        if len(items) == 1:
            items[0].outcome, items[0].why = JobOutcome.REFUSED, _explain(items[0], error)
        else:
            for item in items:
                _copy_level([item], below, actor)
        return
    for item in items:
        copy = copies.get(item.post)
        if copy is not None:
            item.made, item.version, item.outcome = copy.pk, copy.version, JobOutcome.DONE
        else:
            why = _("The page or its parent copy was deleted in the meantime.")
            item.outcome, item.why = JobOutcome.REFUSED, why


def _explain(item: PostJobItem, error: Exception) -> str:
    if isinstance(error, CmsError):
        return error.message
    logger.error("cannot copy page %s", item.post, exc_info=error)
    return str(DEFECT_TEXT)


def _undo_copy(item: PostJobItem, actor: Actor) -> None:
    if item.made is None:
        return
    if Post.objects.alive().filter(parent=item.made).exists():
        item.outcome, item.why = JobOutcome.KEPT, _("Pages below it are kept.")
        return
    undo_restore(post_id=item.made, version=item.version, actor=actor)


def _set_status(
    status: Status, before: Collection[Status]
) -> Callable[[PostJob, Items, Actor], None]:
    """Change the status of posts that have one of the statuses `before`; skip others."""

    def run(_job: PostJob, items: Items, actor: Actor) -> None:
        for item in items:
            post = lock_post(item.post, actor)
            if post.status not in before:
                item.outcome = JobOutcome.UNCHANGED
                continue
            item.before = record_status(post)
            move_status(post=post, status=status, actor=actor)
            item.version, item.outcome = post.version, JobOutcome.DONE

    return run


def _undo_status(item: PostJobItem, actor: Actor) -> None:
    restore_status(post_id=item.post, version=item.version, before=item.before, actor=actor)


def _delete(_job: PostJob, items: Items, actor: Actor) -> None:
    for item in items:
        post = delete_post(post_id=item.post, actor=actor)
        at = post.deleted_at
        item.before = {"deleted_at": at.isoformat() if at is not None else None}
        item.outcome = JobOutcome.DONE


def _undo_delete(item: PostJobItem, actor: Actor) -> None:
    at = item.before["deleted_at"]
    undo_delete(post_id=item.post, deleted_at=parse_datetime(at) if at else None, actor=actor)


STEPS: Final[dict[str, JobStep]] = {
    JobKind.COPY: JobStep("posts.create", 50, _copy, _undo_copy),
    # One post per transaction: recording an event locks the content version, and a transaction that holds
    # this lock must not wait for another post's lock.
    JobKind.PUBLISH: JobStep(
        "posts.publish",
        1,
        _set_status(Status.PUBLISHED, {Status.DRAFT, Status.ARCHIVED}),
        _undo_status,
    ),
    JobKind.UNPUBLISH: JobStep(
        "posts.publish", 1, _set_status(Status.DRAFT, {Status.PUBLISHED}), _undo_status
    ),
    JobKind.ARCHIVE: JobStep(
        "posts.archive",
        1,
        _set_status(Status.ARCHIVED, {Status.DRAFT, Status.PUBLISHED}),
        _undo_status,
    ),
    JobKind.DELETE: JobStep("posts.delete", 1, _delete, _undo_delete),
    JobKind.EDIT: JobStep("posts.edit", 1, run_bulk_edit, undo_bulk_edit),
}
