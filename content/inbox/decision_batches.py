"""Decisions on many waiting changes: begun and cancelled here, carried out by `content.inbox.batch_execution`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from content.inbox.decisions import Marked, find_waiting_rows, require_all
from content.layers.decide import clean_note
from content.models import BatchState, DecisionBatch, DecisionItem, QueuedChange
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.task_queue.wake_up import queue_task, send_after_commit

MAX_BATCH_CHANGES: Final = 2_000
_SEES_ALL: Final = "users.manage"


@transaction.atomic
def begin_batch(*, marks: Sequence[Marked], actor: Actor, note: str = "") -> DecisionBatch:
    """Have all of this decided on by a task, post by post; each change as it was seen.

    Raises `RuleViolation` on `marks` for none or too many, `NotAllowed` where the actor may not do all of it.
    """
    actor.require_person("decide on what waits")
    if not 1 <= len(marks) <= MAX_BATCH_CHANGES:
        raise invalid(
            "marks", _("Decide on 1 to %(most)s changes at a time.") % {"most": MAX_BATCH_CHANGES}
        )
    words = clean_note(note)
    by_id = {mark.id: mark for mark in marks}
    groups = find_waiting_rows(marks)
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
    DecisionItem.objects.bulk_create([_item(batch, row, by_id[row.pk]) for row in rows])
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
        raise Conflict(_("This is over already."), code="batch_finished")
    batch.state, batch.ended_at = BatchState.CANCELLED, timezone.now()
    batch.save(update_fields=["state", "ended_at"])
    record(batch, "cancelled", actor)
    return batch


def find_batch(*, batch_id: UUID, actor: Actor) -> DecisionBatch:
    """The batch, for whoever made it and for admins. Raises `NotFound` for everybody else."""
    batch = batches_for(actor).filter(pk=batch_id).first()
    if batch is None:
        raise NotFound(_("No decisions have the id %(id)s.") % {"id": batch_id})
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


def _item(batch: DecisionBatch, row: QueuedChange, mark: Marked) -> DecisionItem:
    return DecisionItem(
        batch=batch,
        post_id=row.post_id,
        layer=row.layer,
        path=row.path,
        subject=row.subject,
        kind=row.kind,
        seen=mark.seen,
        word=mark.word,
    )
