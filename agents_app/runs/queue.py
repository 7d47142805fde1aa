"""Telling workers of runs, after the commit. The row is the truth, the message only a wake-up."""

from __future__ import annotations

from uuid import UUID

from django.db import models

from agents_app.models import UNFINISHED, AgentRun, RunStatus
from core.waking import after_commit


def wake(run_id: UUID) -> None:
    """Tell a worker of a run, after the commit. A lost message is made good by the sweep."""
    after_commit(lambda: _send(run_id), f"run {run_id}")


def _send(run_id: UUID) -> None:
    from agents_app.tasks import run_agent

    run_agent.delay(str(run_id))


def wake_next(run: AgentRun) -> None:
    """Tell a worker of the run that waited for this one: the next of the same event."""
    if run.event_id is None:
        return
    following = AgentRun.objects.filter(
        event_id=run.event_id, position__gt=run.position, status=RunStatus.QUEUED
    )
    next_id = following.order_by("position").values_list("pk", flat=True).first()
    if next_id is not None:
        wake(next_id)


def held_back() -> models.Q:
    """Runs whose event has an earlier run that is not finished."""
    earlier = AgentRun.objects.filter(
        event_id=models.OuterRef("event_id"),
        position__lt=models.OuterRef("position"),
        status__in=UNFINISHED,
    )
    return models.Q(models.Exists(earlier))
