"""Runs forget the words of visitors together with the event that brought them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from agents_app.models import (
    UNFINISHED,
    AgentRun,
    RunMessage,
    RunReaction,
    RunStatus,
    RunStep,
)
from core import events

SENTENCE: Final = "The words that this run was about were deleted."
_DEEPEST: Final = 10


def connect() -> None:
    """Have runs forget with events. Called once, at start."""
    events.events_forgotten.register(forget)


def forget(event_ids: list[int]) -> None:
    """Empty what these events' runs, their further tries, and the runs that they started hold of the words.

    Inside the transaction of the deletion. What is staged already is content, and for people to decide on.
    """
    runs = _runs_of(event_ids)
    if not runs:
        return
    rows = AgentRun.objects.select_for_update(no_key=True).filter(pk__in=runs)
    len(rows.order_by("pk").values_list("pk"))
    found = AgentRun.objects.filter(pk__in=runs)
    found.filter(status__in=UNFINISHED).update(
        status=RunStatus.CANCELLED, finished_at=timezone.now(), doing=""
    )
    found.update(context={}, open_ended_context="", note="", value=None, summary="")
    found.exclude(status=RunStatus.SUCCEEDED).update(error=SENTENCE)
    RunMessage.objects.filter(run_id__in=runs).delete()
    # Why an answer was refused, which may quote it.
    RunStep.objects.filter(run_id__in=runs, kind="model", ok=False).update(summary="")
    RunReaction.objects.filter(run_id__in=runs).update(summary="")


def _runs_of(event_ids: list[int]) -> set[UUID]:
    """The runs of the events, and all that began because of them. A chain is short, so few queries are."""
    found: set[UUID] = set()
    layer = Q(event_id__in=event_ids)
    for _ in range(_DEEPEST):
        new = set(AgentRun.objects.filter(layer).values_list("pk", flat=True)) - found
        if not new:
            break
        found |= new
        layer = Q(cause_run_id__in=new) | Q(first_try_id__in=new)
    return found
