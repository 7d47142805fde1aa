"""Decisions on many waiting changes at once: begun and cancelled by a person, carried out by a task.

Each post is its own transaction, with the note of what came of it. A worker may be killed at any point, and two may
be at it: what a transaction decided it also noted, and the lock on the batch lets one post be decided on at a time.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from content.inbox.decisions import (
    Decision,
    Marked,
    Word,
    decide_of_post,
    find_waiting_rows,
    require_all,
)
from content.layers.decide import clean_note
from content.models import BatchState, DecisionBatch, DecisionItem, DecisionOutcome, Layer, Post
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.errors import Conflict, NotAllowed, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.task_queue import queue_task, send_after_commit

logger = logging.getLogger(__name__)
MAX_BATCH_CHANGES: Final = 2_000
_SEES_ALL: Final = "users.manage"
TURN_SECONDS: Final = 20.0
"""After so long the worker takes up what else waits; the batch goes on with a message of its own."""
_LATE_AFTER: Final = timedelta(seconds=90)
_MAX_WOKEN: Final = 10


@transaction.atomic
def begin_batch(*, marks: Sequence[Marked], actor: Actor, note: str = "") -> DecisionBatch:
    """Have all of this decided on by a task, post by post; each change as it was seen.

    Raises `RuleViolation` on `marks` for none or too many, `NotAllowed` where the actor may not do all of it.
    """
    actor.require_person("decide on what waits")
    if not 1 <= len(marks) <= MAX_BATCH_CHANGES:
        raise invalid(
            "marks", _("Decide on 1 to %(most)s changes at once.") % {"most": MAX_BATCH_CHANGES}
        )
    words = clean_note(note)
    by_id = {mark.id: mark for mark in marks}
    groups = find_waiting_rows(marks, actor)
    require_all(actor, groups, by_id)
    rows = [row for of_layer in groups.values() for row in of_layer]
    batch = DecisionBatch.objects.create(
        by_id=actor.user.pk,
        by_name=actor.user.username,
        language=get_language() or "",
        note=words,
        gone=len(by_id) - len(rows),
        touched_at=timezone.now(),
    )
    DecisionItem.objects.bulk_create(
        DecisionItem(
            batch=batch,
            post_id=row.post_id,
            layer=row.layer,
            path=row.path,
            subject=row.subject,
            kind=row.kind,
            seen=by_id[row.pk].seen,
            word=by_id[row.pk].word,
        )
        for row in rows
    )
    record(batch, "begun", actor, changes=len(rows))
    send_later(batch)
    return batch


@transaction.atomic
def cancel_batch(*, batch_id: UUID, actor: Actor) -> DecisionBatch:
    """Decide on nothing more; what is done stays. Raises `Conflict` (`batch_finished`) where it is over."""
    actor.require_person("cancel decisions")
    find_batch(batch_id=batch_id, actor=actor)
    batch = DecisionBatch.objects.select_for_update(no_key=True).get(pk=batch_id)
    if batch.is_over:
        raise Conflict(_("This has already finished."), code="batch_finished")
    batch.state, batch.ended_at = BatchState.CANCELLED, timezone.now()
    batch.save(update_fields=["state", "ended_at"])
    record(batch, "cancelled", actor)
    return batch


def find_batch(*, batch_id: UUID, actor: Actor) -> DecisionBatch:
    """The batch, for whoever made it and for admins. Raises `NotFound` for everybody else."""
    batch = batches_for(actor).filter(pk=batch_id).first()
    if batch is None:
        raise NotFound(_("There are no decisions with the ID %(id)s.") % {"id": batch_id})
    return batch


def batches_for(actor: Actor) -> QuerySet[DecisionBatch]:
    """The batches that the actor may see, the latest first."""
    actor.require("posts.view")
    own = Q() if actor.can(_SEES_ALL) else Q(by_id=actor.user.pk)
    return DecisionBatch.objects.filter(own).order_by("-created_at", "pk")


def counts_of(batch_ids: Collection[UUID]) -> dict[UUID, Counter[str]]:
    """Return how many changes of each batch came to what. One query."""
    found: dict[UUID, Counter[str]] = {batch_id: Counter() for batch_id in batch_ids}
    rows = DecisionItem.objects.filter(batch__in=batch_ids).values_list("batch", "outcome")
    for batch_id, outcome, count in rows.annotate(count=Count("pk")).order_by():
        found[batch_id][outcome] = count
    return found


def record(batch: DecisionBatch, what: str, actor: Actor, **said: int | str) -> None:
    payload: JsonObject = {"id": str(batch.pk), **said}
    outbox.record(f"inbox.batch.{what}", actor=actor, payload=payload)


def send_later(batch: DecisionBatch) -> None:
    """Wake a worker after the commit."""
    send_after_commit(
        lambda: queue_task("content.tasks.decide_batch", str(batch.pk)), f"decisions {batch.pk}"
    )


def execute_batch(batch_id: UUID) -> None:
    """Decide on what is not decided yet. Safe to call any number of times."""
    ends = time.monotonic() + TURN_SECONDS
    while _decide_next(batch_id):
        if time.monotonic() > ends:
            batch = DecisionBatch.objects.filter(pk=batch_id).first()
            return send_later(batch) if batch else None
    return None


def resume_batches() -> int:
    """Go on with what a lost message or a dead worker left. Answers how many batches. For the sweep."""
    late = DecisionBatch.objects.filter(
        state=BatchState.RUNNING, touched_at__lt=timezone.now() - _LATE_AFTER
    )
    batches = list(late.order_by("touched_at")[:_MAX_WOKEN])
    for batch in batches:
        batch.touched_at = timezone.now()
        batch.save(update_fields=["touched_at"])
        send_later(batch)
    return len(batches)


def forget_old_batches(days: int = 30) -> int:
    """Delete what is over for so long. Safe to run twice."""
    old = DecisionBatch.objects.filter(ended_at__lt=timezone.now() - timedelta(days=days))
    return old.delete()[0]


@transaction.atomic
def _decide_next(batch_id: UUID) -> bool:
    """One layer of one post. Answers False where nothing is left to do."""
    running = DecisionBatch.objects.filter(pk=batch_id, state=BatchState.RUNNING)
    batch = running.select_related("by").select_for_update(no_key=True, of=("self",)).first()
    if batch is None:
        return False
    waiting = batch.items.filter(outcome=DecisionOutcome.WAITING).order_by("pk")
    first = waiting.first()
    with translation.override(batch.language or None):
        if first is None:
            return _end(batch, BatchState.DONE)
        of_post = Q(post=first.post_id) if first.post_id else Q(post__isnull=True)
        items = list(waiting.filter(of_post, layer=first.layer))
        try:
            _decide(batch, items)
        except NotAllowed as error:
            return _end(batch, BatchState.STOPPED, error.message)
    batch.touched_at = timezone.now()
    batch.save(update_fields=["touched_at"])
    return True


def _decide(batch: DecisionBatch, items: Sequence[DecisionItem]) -> None:
    """Raises `NotAllowed` where whoever asked for it may not decide any more."""
    if batch.by is None:
        raise NotAllowed(_("The person who decided this no longer has an account."))
    # Read anew for each post: who lost their rights meanwhile decides on nothing more.
    actor = Actor(user=batch.by, via="admin")
    actor.require_person("decide on what waits")
    # Asked for anew: it may have been deleted for good since the items were read.
    post_id = items[0].post_id
    post = Post.objects.filter(pk=post_id).first() if post_id else None
    decision = _decision(post, items, actor, batch.note) if post else None
    outcomes: dict[str, DecisionOutcome] = {}
    if decision is not None:
        outcomes |= dict.fromkeys(decision.taken, DecisionOutcome.TAKEN)
        outcomes |= dict.fromkeys(decision.rejected, DecisionOutcome.REJECTED)
        outcomes |= dict.fromkeys(decision.moved, DecisionOutcome.MOVED)
        outcomes |= dict.fromkeys(decision.held, DecisionOutcome.HELD)
        outcomes |= dict.fromkeys(decision.refused, DecisionOutcome.REFUSED)
    for item in items:
        item.outcome = outcomes.get(item.path, DecisionOutcome.GONE)
        item.why = decision.why if decision and item.outcome == DecisionOutcome.REFUSED else ""
    DecisionItem.objects.bulk_update(items, ["outcome", "why"], batch_size=200)


def _decision(post: Post, items: Sequence[DecisionItem], actor: Actor, note: str) -> Decision:
    layer = Layer(items[0].layer)
    marks = {item.path: Marked(0, item.seen, cast(Word, item.word)) for item in items}
    try:
        return decide_of_post(post=post, layer=layer, marks=marks, actor=actor, note=note)
    except (NotAllowed, *DATABASE_AWAY):
        raise
    except Exception:  # a defect at one post must not keep the others waiting for ever
        logger.exception("decisions on the post %s could not be carried out", post.pk)
        return Decision(
            post,
            layer,
            refused=tuple(marks),
            why=_("Something went wrong with this post. Try it on its own, or check the log."),
        )


def _end(batch: DecisionBatch, state: BatchState, why: str = "") -> bool:
    batch.state, batch.why, batch.ended_at = state, why, timezone.now()
    batch.save(update_fields=["state", "why", "ended_at"])
    found = counts_of([batch.pk])[batch.pk]
    done = {"taken": found[DecisionOutcome.TAKEN], "rejected": found[DecisionOutcome.REJECTED]}
    left = found.total() - sum(done.values())
    actor = Actor(user=batch.by or Visitor(username=batch.by_name), via="system")
    record(batch, "ended", actor, **done, left=left, state=state)
    return False
