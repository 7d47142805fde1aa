"""WebSockets for pages that show a run or a batch, with their progress messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Final
from urllib.parse import parse_qs
from uuid import UUID

from django.conf import settings
from django.utils.translation import get_supported_language_variant

from agents_app.models import RUNS_CHANNEL, UNFINISHED, AgentBatch, AgentRun, RunStep
from agents_app.runs.labels import progress_version, run_progress
from agents_app.runs.queries import load_runs, load_steps
from agents_app.runs.scopes import visible_batches, visible_runs
from proofroom.core.actor import ActorUser
from proofroom.core.json import JsonObject
from proofroom.core.realtime.hub import RowFeed, RowPage, Snapshot
from proofroom.core.realtime.sessions import PageConnection
from proofroom.core.realtime.websockets import PageConsumer


class RunSnapshot(Snapshot):
    def __init__(self, run: AgentRun) -> None:
        self.run = run
        self.steps: Sequence[RunStep] = ()
        self.version = progress_version(run)
        self.is_over = run.is_finished

    def message(self) -> JsonObject:
        return run_progress(self.run, self.steps)


class RunFeed(RowFeed[RunSnapshot]):
    """Follows runs. One query, and one more for the steps if anything changed."""

    channels = (RUNS_CHANNEL,)

    def load(self, ids: Collection[UUID]) -> Mapping[UUID, RunSnapshot]:
        return {id_: RunSnapshot(run) for id_, run in load_runs(ids).items()}

    def load_visible(self, ids: Collection[UUID], person: ActorUser) -> Collection[UUID]:
        runs = visible_runs(AgentRun.objects.filter(pk__in=ids), person, person.pk)
        return set(runs.values_list("pk", flat=True))

    def load_details(self, pages: Mapping[RowPage, ActorUser]) -> None:
        super().load_details(pages)
        for run_id, steps in load_steps({page.row_id for page in pages}).items():
            self.found[run_id].steps = steps


class RunConsumer(PageConsumer[RowPage]):
    """`/ws/runs/<id>/?lang=`: sends the run's progress on every change, closes when it ends."""

    permission: ClassVar[str] = "agents.view"
    feed = RunFeed

    def page_of(self, connection: PageConnection) -> RowPage:
        language = str(settings.LANGUAGE_CODE)
        # Use the page's language if it is supported, otherwise the default.
        with suppress(LookupError, ValueError):
            query = self.scope["query_string"].decode("ascii")
            wanted = parse_qs(query, max_num_fields=10).get("lang", [""])[0]
            language = get_supported_language_variant(wanted[:20])
        return RowPage(connection, self.scope["url_route"]["kwargs"]["run_id"], language)


_RUN_COLUMNS: Final = ("pk", "status", "doing", "input_tokens", "output_tokens")
_BATCH_COLUMNS: Final = ("cancelled_at", "revert_asked_at", "reverted_at", "reverted")


class BatchSnapshot(Snapshot):
    def __init__(self, batch: Sequence[object], runs: Sequence[Sequence[object]]) -> None:
        _, asked_at, done_at, undone = batch
        # Compare only the number of reverted runs, because the full results can be as long as the
        # batch's texts.
        length = len(undone) if isinstance(undone, dict) else 0
        unfinished = sum(row[1] in UNFINISHED for row in runs)
        # Compared between reads to detect changes, so it contains everything that the page shows.
        self.version = (*batch[:3], length, *runs)
        self.runs, self.finished = len(runs), len(runs) - unfinished
        is_reverting = asked_at is not None and done_at is None
        self.is_over = not unfinished and not is_reverting

    def message(self) -> JsonObject:
        """Return only that something changed; the page reloads the details itself."""
        return {"runs": self.runs, "finished": self.finished}


class BatchFeed(RowFeed[BatchSnapshot]):
    """Follows batches. Two queries."""

    channels = (RUNS_CHANNEL,)

    def load(self, ids: Collection[UUID]) -> Mapping[UUID, BatchSnapshot]:
        runs: dict[UUID | None, list[tuple[object, ...]]] = defaultdict(list)
        rows = AgentRun.objects.filter(batch_id__in=ids).order_by("pk")
        for batch_id, *row in rows.values_list("batch_id", *_RUN_COLUMNS):
            runs[batch_id].append(tuple(row))
        batches = AgentBatch.objects.filter(pk__in=ids).values_list("pk", *_BATCH_COLUMNS)
        return {pk: BatchSnapshot(columns, runs[pk]) for pk, *columns in batches}

    def load_visible(self, ids: Collection[UUID], person: ActorUser) -> Collection[UUID]:
        batches = visible_batches(AgentBatch.objects.filter(pk__in=ids), person, person.pk)
        return set(batches.values_list("pk", flat=True))


class BatchConsumer(PageConsumer[RowPage]):
    """`/ws/batches/<id>/`: sends a message on every change of the batch, closes when nothing is left to do."""

    permission: ClassVar[str] = "agents.view"
    feed = BatchFeed

    def page_of(self, connection: PageConnection) -> RowPage:
        batch_id = self.scope["url_route"]["kwargs"]["batch_id"]
        return RowPage(connection, batch_id, str(settings.LANGUAGE_CODE))
