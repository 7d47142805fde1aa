"""Updates of runs and batches over websockets, for the open pages of a process that show them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Final, Generic, TypeVar
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation
from django.utils.translation import get_supported_language_variant

from agents_app.models import UNFINISHED, AgentBatch, AgentRun, RunStep
from agents_app.progress.labels import load_runs, load_steps, progress_version, run_progress
from proofroom.core.json import JsonObject
from proofroom.core.realtime.polling_hub import (
    CHECK_SECONDS,
    NOT_AUTHORIZED,
    Hubs,
    OpenPage,
    PageHub,
    Ticket,
    still_authorized,
)
from proofroom.core.realtime.websockets import PageConsumer

CLOSE_NOT_FOUND: Final = 4404
CLOSE_NORMAL: Final = 1000


class ProgressPage(OpenPage):
    """An open page that shows a run or a batch; `mark` is of the state that it was told of last."""

    most_waiting: ClassVar[int] = 50

    def __init__(self, ticket: Ticket, shown_id: UUID, language: str) -> None:
        super().__init__(ticket)
        self.shown_id = shown_id
        self.language = language
        self.mark: tuple[object, ...] | None = None


class Snapshot(ABC):
    """The state of a run or batch: `mark` differs as soon as its page would."""

    mark: tuple[object, ...]
    is_over: bool

    @abstractmethod
    def message(self) -> JsonObject:
        """The message to a page, in the active language. Reads nothing."""


SnapshotT = TypeVar("SnapshotT", bound=Snapshot)


class ProgressHub(PageHub[ProgressPage], Generic[SnapshotT]):
    """Pages that follow rows: told whenever they changed, and asked now and then whether they still may hear."""

    most_pages: ClassVar[int] = 1000
    most_pages_of_one: ClassVar[int] = 20

    def __init__(self) -> None:
        super().__init__()
        self._check_at = 0.0

    @abstractmethod
    def load(self, ids: Collection[UUID]) -> Mapping[UUID, SnapshotT]:
        """Load the state of those that there are, in as many queries for many as for one."""

    def load_details(self, snapshots: Sequence[SnapshotT]) -> None:
        """Load what only the messages of these need."""

    async def turn(self, pages: Sequence[ProgressPage]) -> None:
        is_due = time.monotonic() >= self._check_at
        tell = await database_sync_to_async(self.look)(pages, is_due)
        if is_due:
            self._check_at = time.monotonic() + CHECK_SECONDS
        tell()

    def look(self, pages: Sequence[ProgressPage], is_due: bool) -> Callable[[], None]:
        """Look at the database; what it answers tells the pages, and reads nothing."""
        found = self.load({page.shown_id for page in pages})
        changed = [
            page
            for page in pages
            if page.shown_id in found and found[page.shown_id].mark != page.mark
        ]
        asked = pages if is_due else changed
        standing = still_authorized({page.ticket for page in asked}) if asked else {}
        heard = [page for page in changed if page.ticket in standing]
        if heard:
            self.load_details([found[id_] for id_ in {page.shown_id for page in heard}])

        def tell() -> None:
            for page in asked:
                if page.ticket not in standing:
                    page.end(NOT_AUTHORIZED)
            for page in heard:
                snapshot = found[page.shown_id]
                page.mark = snapshot.mark
                with translation.override(page.language):
                    page.say(snapshot.message())
                if snapshot.is_over:
                    page.finish(CLOSE_NORMAL)
            for page in pages:
                if page.shown_id not in found:
                    page.end(CLOSE_NOT_FOUND)

        return tell


class RunSnapshot(Snapshot):
    def __init__(self, run: AgentRun) -> None:
        self.run = run
        self.steps: Sequence[RunStep] = ()
        self.mark = progress_version(run)
        self.is_over = run.is_finished

    def message(self) -> JsonObject:
        return run_progress(self.run, self.steps)


class RunHub(ProgressHub[RunSnapshot]):
    """The pages of this process that follow runs. One query; where there is something to tell, three more for all."""

    def load(self, ids: Collection[UUID]) -> Mapping[UUID, RunSnapshot]:
        return {id_: RunSnapshot(run) for id_, run in load_runs(ids).items()}

    def load_details(self, snapshots: Sequence[RunSnapshot]) -> None:
        steps = load_steps({snapshot.run.pk for snapshot in snapshots})
        for snapshot in snapshots:
            snapshot.steps = steps.get(snapshot.run.pk, ())


RUN_HUBS: Final[Hubs[ProgressPage]] = Hubs(RunHub)


class RunConsumer(PageConsumer[ProgressPage]):
    """`/ws/runs/<id>/?lang=`: how far the run is, each time that it goes on; closed when it ends."""

    permission: ClassVar[str] = "agents.view"
    hubs = RUN_HUBS

    def page_of(self, ticket: Ticket) -> ProgressPage:
        language = str(settings.LANGUAGE_CODE)
        # The language of the page, where there is one of that name.
        with suppress(LookupError, ValueError):
            query = self.scope["query_string"].decode("ascii")
            wanted = parse_qs(query, max_num_fields=10).get("lang", [""])[0]
            language = get_supported_language_variant(wanted[:20])
        return ProgressPage(ticket, self.scope["url_route"]["kwargs"]["run_id"], language)


_RUN_COLUMNS: Final = ("pk", "status", "doing", "input_tokens", "output_tokens")
_BATCH_COLUMNS: Final = ("cancelled_at", "revert_asked_at", "reverted_at", "reverted")


class BatchSnapshot(Snapshot):
    def __init__(self, batch: Sequence[object], runs: Sequence[Sequence[object]]) -> None:
        _, asked_at, done_at, undone = batch
        # Of what was taken back only how much: all of it is as long as the batch wrote.
        length = len(undone) if isinstance(undone, dict) else 0
        unfinished = sum(row[1] in UNFINISHED for row in runs)
        self.mark = (*batch[:3], length, *runs)
        self.runs, self.finished = len(runs), len(runs) - unfinished
        is_reverting = asked_at is not None and done_at is None
        self.is_over = not unfinished and not is_reverting

    def message(self) -> JsonObject:
        """Only that something is new: the page reads it by itself."""
        return {"runs": self.runs, "finished": self.finished}


class BatchHub(ProgressHub[BatchSnapshot]):
    """The pages of this process that follow batches. Two queries."""

    def load(self, ids: Collection[UUID]) -> Mapping[UUID, BatchSnapshot]:
        runs: dict[UUID | None, list[tuple[object, ...]]] = defaultdict(list)
        rows = AgentRun.objects.filter(batch_id__in=ids).order_by("pk")
        for batch_id, *row in rows.values_list("batch_id", *_RUN_COLUMNS):
            runs[batch_id].append(tuple(row))
        batches = AgentBatch.objects.filter(pk__in=ids).values_list("pk", *_BATCH_COLUMNS)
        return {pk: BatchSnapshot(columns, runs[pk]) for pk, *columns in batches}


BATCH_HUBS: Final[Hubs[ProgressPage]] = Hubs(BatchHub)


class BatchConsumer(PageConsumer[ProgressPage]):
    """`/ws/batches/<id>/`: each time that something is new of the batch; closed when nothing goes on any more."""

    permission: ClassVar[str] = "agents.view"
    hubs = BATCH_HUBS

    def page_of(self, ticket: Ticket) -> ProgressPage:
        batch_id = self.scope["url_route"]["kwargs"]["batch_id"]
        return ProgressPage(ticket, batch_id, str(settings.LANGUAGE_CODE))
