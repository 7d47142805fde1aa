"""Updates of batches over websockets: an open page is told that something is new, and reads it by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final
from uuid import UUID

from agents_app.models import UNFINISHED, AgentBatch, AgentRun
from agents_app.progress.run_updates import (
    CLOSE_NORMAL,
    CLOSE_NOT_FOUND,
    PollingHub,
    select_authorized_pages,
)
from proofroom.core.realtime.base_consumer import PageConsumer
from proofroom.core.realtime.open_page import NOT_AUTHORIZED, OpenPage
from proofroom.core.realtime.polling_hub import Hubs
from proofroom.core.realtime.sessions import Ticket

Mark = tuple[object, ...]
_RUN: Final = ("pk", "status", "doing", "input_tokens", "output_tokens")
_BATCH: Final = ("cancelled_at", "revert_asked_at", "reverted_at", "reverted")


class BatchPage(OpenPage):
    """An open page that shows a batch."""

    most_waiting: ClassVar[int] = 50

    def __init__(self, ticket: Ticket, batch_id: UUID) -> None:
        super().__init__(ticket)
        self.batch_id = batch_id
        self.mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class BatchSnapshot:
    """The state of a batch: `mark` differs as soon as its page would."""

    mark: Mark
    runs: int
    finished: int
    is_busy: bool


def load_batch_states(ids: Collection[UUID]) -> dict[UUID, BatchSnapshot]:
    """Return the states of these batches. Two queries, however many."""
    runs: dict[UUID | None, list[tuple[object, ...]]] = defaultdict(list)
    rows = AgentRun.objects.filter(batch_id__in=ids).order_by("pk")
    for batch_id, *row in rows.values_list("batch_id", *_RUN):
        runs[batch_id].append(tuple(row))
    batches = AgentBatch.objects.filter(pk__in=ids).values_list("pk", *_BATCH)
    found: dict[UUID, BatchSnapshot] = {}
    for pk, *columns in batches:
        _, asked_at, done_at, undone = columns
        own = runs[pk]
        unfinished = sum(row[1] in UNFINISHED for row in own)
        is_reverting = asked_at is not None and done_at is None
        # Of what was taken back only how much: all of it is as long as the batch wrote.
        length = len(undone) if isinstance(undone, dict) else 0
        mark = (*columns[:3], length, *own)
        is_busy = bool(unfinished) or is_reverting
        found[pk] = BatchSnapshot(mark, len(own), len(own) - unfinished, is_busy)
    return found


class BatchHub(PollingHub[BatchPage]):
    """The pages of this process that follow batches."""

    def looked(self, pages: Sequence[BatchPage], is_due: bool) -> Callable[[], None]:
        states = load_batch_states({page.batch_id for page in pages})
        changed = [
            page
            for page in pages
            if page.batch_id in states and states[page.batch_id].mark != page.mark
        ]
        heard, refused = select_authorized_pages(pages, changed, is_due)

        def told() -> None:
            for page in refused:
                page.end(NOT_AUTHORIZED)
            for page in pages:
                if page.batch_id not in states:
                    page.end(CLOSE_NOT_FOUND)
            for page in heard:
                state = states[page.batch_id]
                page.mark = state.mark
                page.say({"runs": state.runs, "finished": state.finished})
                if not state.is_busy:
                    page.finish(CLOSE_NORMAL)

        return told


BATCH_HUBS: Final[Hubs[BatchPage]] = Hubs(BatchHub)


class BatchConsumer(PageConsumer[BatchPage]):
    """`/ws/batches/<id>/`: each time that something is new of the batch; closed when nothing goes on any more."""

    permission: ClassVar[str] = "agents.view"
    hubs = BATCH_HUBS

    def page_of(self, ticket: Ticket) -> BatchPage:
        return BatchPage(ticket, self.scope["url_route"]["kwargs"]["batch_id"])
