"""Stops all runs of a batch that are not finished."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.batches.events import record_batch
from agents_app.batches.finding import find_batch
from agents_app.models import UNFINISHED, AgentBatch, AgentRun, RunStatus
from agents_app.runs.lifecycle import lock_posts, record_run
from agents_app.runs.undo_log import take_back
from core.actor import Actor
from core.errors import Conflict


@transaction.atomic
def cancel_batch(*, batch_id: UUID | str, actor: Actor) -> AgentBatch:
    """Stop what is not finished of a batch, in one go. Raises `Conflict` (`batch_finished`) where all of it is."""
    actor.require_person("cancel a batch")
    actor.require("agents.edit")
    batch = find_batch(batch_id=batch_id, actor=actor)
    now = timezone.now()
    unfinished = AgentRun.objects.filter(batch=batch, status__in=UNFINISHED)
    lock_posts(*unfinished.filter(status=RunStatus.RUNNING))
    rows = list(unfinished.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    if not rows:
        raise Conflict(_("All runs of this batch are finished."), code="batch_finished")
    unfinished.filter(pk__in=[run.pk for run in rows]).update(
        status=RunStatus.CANCELLED, finished_at=now, doing=""
    )
    for run in rows:
        if run.attempts:
            take_back(run)
        run.status = RunStatus.CANCELLED
        record_run("cancelled", run, actor)
    batch.cancelled_at = now
    batch.save(update_fields=["cancelled_at"])
    record_batch("cancelled", batch, actor, runs=len(rows))
    return batch
