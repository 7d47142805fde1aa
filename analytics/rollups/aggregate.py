"""Adding events up into figures: each once, whoever is killed when.

What was counted and how far moves in one transaction, and only one adds at a time.
"""

from __future__ import annotations

import logging
from datetime import datetime
from time import monotonic
from typing import Final

from django.db import OperationalError, transaction
from django.db.models import Subquery
from django.utils import timezone

from analytics.ingest.commit_order import last_settled_id
from analytics.models import AnalyticsEvent, RollUp
from analytics.rollups import write_rollups
from analytics.rollups.chunks import next_chunk
from proofroom.core.database.sqlite import short_busy_timeout

logger = logging.getLogger(__name__)
CHUNK_SIZE: Final = 20_000
"""Events of one transaction: what a report counts at most before it is read."""
_BIG_CHUNK: Final = 50_000
"""Of the scheduler's, which nobody waits for: events that count alike are written once."""
_ONE: Final = 1
"""The id of the only `RollUp`."""
_REPORT_WAITS: Final = 0.5
"""Seconds for which a report waits for who writes."""


def is_waiting() -> bool:
    """Return whether there are events that are not counted. One statement."""
    newest = AnalyticsEvent.objects.order_by("-id").values("id")[:1]
    state = RollUp.objects.filter(pk=_ONE).values_list("counted_to", Subquery(newest)).first()
    if state is None:
        return AnalyticsEvent.objects.exists()
    counted_to, last = state
    return last is not None and last > counted_to


def add_up(limit: int = CHUNK_SIZE) -> int:
    """Count up to that many events; answers how many. 0 where another process is at it, or nothing is new."""
    if not is_waiting():
        return 0
    began = timezone.now()
    settled = last_settled_id()
    if settled is None:
        return 0
    # Not in the transaction: others would wait for its end to see whether there is such a row.
    RollUp.objects.bulk_create([RollUp(pk=_ONE)], ignore_conflicts=True)
    with transaction.atomic():
        state = lock_state(wait=False)
        return 0 if state is None else _add_chunk(state, settled, limit, began)


def catch_up() -> None:
    """Count a part of what came since, before a report is read. In a busy database it is read as it is."""
    try:
        with short_busy_timeout(_REPORT_WAITS):
            add_up()
    except OperationalError as error:
        logger.info("a report is read without what came last: %s", error)


def add_all(seconds: float) -> int:
    """Count all, or as much as goes in that time. Answers how many."""
    ends = monotonic() + seconds
    counted = 0
    while monotonic() < ends:
        began = timezone.now()
        added = add_up(_BIG_CHUNK)
        counted += added
        if not added:
            if not is_waiting():
                RollUp.objects.update_or_create(pk=_ONE, defaults={"counted_at": began})
            break
    return counted


def lock_state(*, wait: bool) -> RollUp | None:
    """The one row, held until the transaction ends. None where nothing was ever counted, or where it is held
    already and the caller will not wait."""
    rows = RollUp.objects.select_for_update(skip_locked=not wait)
    return rows.filter(pk=_ONE).first()


def _add_chunk(state: RollUp, settled: int, limit: int, began: datetime) -> int:
    chunk = next_chunk(state.counted_to, settled, limit)
    if chunk.events:
        write_rollups.add(chunk, state.months_to)
    is_all = chunk.events < limit
    state.counted_to = max(state.counted_to, settled) if is_all else chunk.to
    state.counted_at = began if is_all else chunk.came_at
    state.save(update_fields=["counted_to", "counted_at"])
    return chunk.events
