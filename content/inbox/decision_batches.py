"""Decision batches: decisions on many changes, started and cancelled by a user, run by a worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import ClassVar, Final, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.inbox.decisions import Marked, Word, decide_for_post, find_queued_rows, require_all
from content.models import BatchState, DecisionBatch, DecisionItem, DecisionOutcome, Layer, Post
from content.posts.decide import clean_note
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.background_jobs.runner import PartRunner
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject

MAX_BATCH_CHANGES: Final = 2_000
_SEES_ALL: Final = "users.manage"


class BatchRunner(PartRunner[DecisionBatch, DecisionItem]):
    """Decides on one layer of one post at a time. A refused post doesn't stop the others."""

    model = DecisionBatch
    task: ClassVar[str] = "content.tasks.decide_batch"
    noun: ClassVar[str] = "decisions"
    failed_state: ClassVar[str] = BatchState.STOPPED
    finished_code: ClassVar[str] = "batch_finished"
    defect_text = gettext_lazy(
        "Something went wrong with this post. Try it on its own, or check the log."
    )
    keep_ended: ClassVar[timedelta] = timedelta(days=30)

    def next_part(self, job: DecisionBatch) -> list[DecisionItem]:
        waiting = job.items.filter(outcome=DecisionOutcome.WAITING).order_by("pk")
        first = waiting.first()
        if first is None:
            return []
        of_post = Q(post=first.post_id) if first.post_id else Q(post__isnull=True)
        return list(waiting.filter(of_post, layer=first.layer))

    def do_part(self, job: DecisionBatch, part: Sequence[DecisionItem], actor: Actor) -> None:
        actor.require_person("decide on what waits")
        # Loaded again, because the post may have been purged since the items were created.
        post = Post.objects.filter(pk=part[0].post_id).first() if part[0].post_id else None
        outcomes: dict[str, DecisionOutcome] = {}
        why = ""
        if post is not None:
            marks = {item.path: Marked(0, item.seen, cast(Word, item.word)) for item in part}
            layer = Layer(part[0].layer)
            done = decide_for_post(post=post, layer=layer, marks=marks, actor=actor, note=job.note)
            why = done.why
            outcomes |= dict.fromkeys(done.taken, DecisionOutcome.TAKEN)
            outcomes |= dict.fromkeys(done.rejected, DecisionOutcome.REJECTED)
            outcomes |= dict.fromkeys(done.moved, DecisionOutcome.MOVED)
            outcomes |= dict.fromkeys(done.held, DecisionOutcome.HELD)
            outcomes |= dict.fromkeys(done.refused, DecisionOutcome.REFUSED)
        for item in part:
            item.outcome = outcomes.get(item.path, DecisionOutcome.GONE)
            item.why = why if item.outcome == DecisionOutcome.REFUSED else ""
        DecisionItem.objects.bulk_update(part, ["outcome", "why"], batch_size=200)

    def refuse_part(self, job: DecisionBatch, part: Sequence[DecisionItem], why: str) -> bool:
        for item in part:
            item.outcome, item.why = DecisionOutcome.REFUSED, why
        DecisionItem.objects.bulk_update(part, ["outcome", "why"], batch_size=200)
        return True

    def on_end(self, job: DecisionBatch, actor: Actor | None) -> None:
        if actor is not None:
            record(job, "cancelled", actor)
            return
        found = count_batch_outcomes([job.pk])[job.pk]
        done = {"taken": found[DecisionOutcome.TAKEN], "rejected": found[DecisionOutcome.REJECTED]}
        left = found.total() - sum(done.values())
        system = Actor(user=job.by or Visitor(username=job.by_name), via="system")
        record(job, "ended", system, **done, left=left, state=job.state)


DECISION_BATCHES: Final = BatchRunner()


@transaction.atomic
def begin_batch(*, marks: Sequence[Marked], actor: Actor, note: str = "") -> DecisionBatch:
    """Start a task that decides on these changes, post by post, if they are still as seen.

    Raises `RuleViolation` on `marks` for none or too many, `NotAllowed` if the actor may not make all the
    decisions.
    """
    actor.require_person("decide on what waits")
    if not 1 <= len(marks) <= MAX_BATCH_CHANGES:
        raise invalid(
            "marks", _("Decide on 1 to %(most)s changes at once.") % {"most": MAX_BATCH_CHANGES}
        )
    words = clean_note(note)
    by_id = {mark.id: mark for mark in marks}
    groups = find_queued_rows(marks, actor)
    require_all(actor, groups, by_id)
    rows = [row for of_layer in groups.values() for row in of_layer]
    batch = DECISION_BATCHES.create(actor, note=words, gone=len(by_id) - len(rows))
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
    return DECISION_BATCHES.begin(batch, at_once=False)


def cancel_batch(*, batch_id: UUID, actor: Actor) -> DecisionBatch:
    """Stop a batch; decisions already made stay. Raises `Conflict` (`batch_finished`) if it has ended."""
    actor.require_person("cancel decisions")
    find_batch(batch_id=batch_id, actor=actor)
    return DECISION_BATCHES.cancel(batch_id, actor)


def find_batch(*, batch_id: UUID, actor: Actor) -> DecisionBatch:
    """Return a batch of the actor, or any for administrators. Raises `NotFound` otherwise."""
    batch = batches_for(actor).filter(pk=batch_id).first()
    if batch is None:
        raise NotFound(_("There are no decisions with the ID %(id)s.") % {"id": batch_id})
    return batch


def batches_for(actor: Actor) -> QuerySet[DecisionBatch]:
    """Return the batches the actor may see, newest first."""
    actor.require("posts.view")
    own = Q() if actor.can(_SEES_ALL) else Q(by_id=actor.user.pk)
    return DecisionBatch.objects.filter(own).order_by("-created_at", "pk")


def count_batch_outcomes(batch_ids: Collection[UUID]) -> dict[UUID, Counter[str]]:
    """Return the number of changes by outcome for each batch. One query."""
    found: dict[UUID, Counter[str]] = {batch_id: Counter() for batch_id in batch_ids}
    rows = DecisionItem.objects.filter(batch__in=batch_ids).values_list("batch", "outcome")
    for batch_id, outcome, count in rows.annotate(count=Count("pk")).order_by():
        found[batch_id][outcome] = count
    return found


def record(batch: DecisionBatch, what: str, actor: Actor, **said: int | str) -> None:
    payload: JsonObject = {"id": str(batch.pk), **said}
    outbox.record(f"inbox.batch.{what}", actor=actor, payload=payload)
