"""What became of reactions outlives the deliveries that carried them out, which are deleted after a while."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from agents_app.models import RunReaction
from agents_app.reactions.reading import outcome_of

_BATCH: Final = 500


def keep_outcomes() -> int:
    """Write the outcome of every finished delivery into its reaction. Answers how many."""
    total = 0
    while kept := _keep_batch():
        total += kept
    return total


@transaction.atomic
def _keep_batch() -> int:
    finished = RunReaction.objects.filter(
        finished_at=None, delivery__isnull=False, delivery__finished_at__isnull=False
    )
    rows = list(finished.select_related("delivery").order_by("pk")[:_BATCH])
    for row in rows:
        outcome = outcome_of(row)
        row.status, row.attempts = outcome.status, outcome.attempts
        row.error, row.finished_at = outcome.error, outcome.finished_at
    RunReaction.objects.bulk_update(rows, ["status", "attempts", "error", "finished_at"])
    return len(rows)
