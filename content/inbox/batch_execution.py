"""Carries out decisions on many changes: each post is its own transaction, with the note of what came of it.

A worker may be killed at any point, and two may be at it: what a transaction decided it also noted, and the lock on
the batch lets one post be decided on at a time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from content.inbox.decision_batches import counts_of, record, send_later
from content.inbox.decisions import Decision, Marked, decide_of_post
from content.models import BatchState, DecisionBatch, DecisionItem, Layer, Outcome, Post
from proofroom.core.actor import Actor, Visitor
from proofroom.core.errors import NotAllowed

logger = logging.getLogger(__name__)
TURN_SECONDS: Final = 20.0
"""After so long the worker takes up what else waits; the batch goes on with a message of its own."""
_LATE: Final = timedelta(seconds=90)
_MOST_WOKEN: Final = 10


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
        state=BatchState.RUNNING, touched_at__lt=timezone.now() - _LATE
    )
    batches = list(late.order_by("touched_at")[:_MOST_WOKEN])
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
    waiting = batch.items.filter(outcome=Outcome.WAITING).order_by("pk")
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
        raise NotAllowed(_("Whoever decided this has no account any more."))
    # Read anew for each post: who lost their rights meanwhile decides on nothing more.
    actor = Actor(user=batch.by, via="admin")
    actor.require_person("decide on what waits")
    # Asked for anew: it may have been deleted for good since the items were read.
    post_id = items[0].post_id
    post = Post.objects.filter(pk=post_id).first() if post_id else None
    decision = _decision(post, items, actor, batch.note) if post else None
    outcomes = _outcomes(decision) if decision else {}
    for item in items:
        item.outcome = outcomes.get(item.path, Outcome.GONE)
        item.why = decision.why if decision and item.outcome == Outcome.REFUSED else ""
    DecisionItem.objects.bulk_update(items, ["outcome", "why"], batch_size=200)


def _decision(post: Post, items: Sequence[DecisionItem], actor: Actor, note: str) -> Decision:
    layer = Layer(items[0].layer)
    marks = {
        item.path: Marked(0, item.seen, "accept" if item.word == "accept" else "reject")
        for item in items
    }
    try:
        return decide_of_post(post=post, layer=layer, marks=marks, actor=actor, note=note)
    except (NotAllowed, OperationalError, InterfaceError):
        raise
    except Exception:  # a defect at one post must not keep the others waiting for ever
        logger.exception("decisions on the post %s could not be carried out", post.pk)
        return Decision(
            post,
            layer,
            refused=tuple(marks),
            why=_("Something went wrong with this post; the log says what. Try it by itself."),
        )


def _outcomes(decision: Decision) -> dict[str, Outcome]:
    by_outcome = {
        Outcome.TAKEN: decision.taken,
        Outcome.REJECTED: decision.rejected,
        Outcome.MOVED: decision.moved,
        Outcome.HELD: decision.held,
        Outcome.REFUSED: decision.refused,
    }
    return {path: outcome for outcome, paths in by_outcome.items() for path in paths}


def _end(batch: DecisionBatch, state: BatchState, why: str = "") -> bool:
    batch.state, batch.why, batch.ended_at = state, why, timezone.now()
    batch.save(update_fields=["state", "why", "ended_at"])
    found = counts_of([batch.pk])[batch.pk]
    done = {"taken": found[Outcome.TAKEN], "rejected": found[Outcome.REJECTED]}
    left = found.total() - sum(done.values())
    actor = Actor(user=batch.by or Visitor(username=batch.by_name), via="system")
    record(batch, "ended", actor, **done, left=left, state=state)
    return False
