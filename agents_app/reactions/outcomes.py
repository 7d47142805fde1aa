"""Outcomes of the reactions to a run, and their storage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from agents_app.models import AgentRun, ReactionStatus, RunReaction
from proofroom.webhooks.models import Delivery, DeliveryStatus

STATUSES: Final = (*ReactionStatus.values, DeliveryStatus.CANCELLED.value)


@dataclass(frozen=True, slots=True)
class ReactionOutcome:
    """The state of a reaction. `error`: a sentence for users, empty without an error."""

    status: str
    attempts: int
    error: str
    next_attempt_at: datetime | None
    finished_at: datetime | None


def reactions_of(run: AgentRun) -> QuerySet[RunReaction]:
    """Return the reactions in the order of the agent's file, each with its delivery. One query."""
    return RunReaction.objects.filter(run=run).select_related("delivery").order_by("number")


def outcome_of(row: RunReaction) -> ReactionOutcome:
    """Return the state of the delivery; without one, the state stored in the row."""
    sent = row.delivery
    if sent is None:
        return ReactionOutcome(
            row.status, row.attempts, row.error, row.next_attempt_at, row.finished_at
        )
    return ReactionOutcome(
        status_of(sent), sent.attempts, sent.last_error, sent.next_attempt_at, sent.finished_at
    )


def status_of(delivery: Delivery) -> str:
    """Return the status of a delivery as a reaction status."""
    is_sending = delivery.status == DeliveryStatus.SENDING
    return ReactionStatus.RUNNING.value if is_sending else delivery.status


_BATCH_SIZE: Final = 500


def copy_delivery_outcomes() -> int:
    """Store the outcome of every finished delivery in its reaction. Return the number."""
    # A delivery can be deleted before its run, so its outcome is copied into the reaction.
    unkept = RunReaction.objects.filter(
        finished_at=None, delivery__isnull=False, delivery__finished_at__isnull=False
    )
    total = 0
    while True:
        with transaction.atomic():
            rows = list(unkept.select_related("delivery").order_by("pk")[:_BATCH_SIZE])
            for row in rows:
                outcome = outcome_of(row)
                row.status, row.attempts = outcome.status, outcome.attempts
                row.error, row.finished_at = outcome.error, outcome.finished_at
            RunReaction.objects.bulk_update(rows, ["status", "attempts", "error", "finished_at"])
        if not rows:
            return total
        total += len(rows)
