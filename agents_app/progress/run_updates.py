"""Updates of runs over websockets, for the open pages of a process that show them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation
from django.utils.translation import get_supported_language_variant

from agents_app.models import AgentRun, RunStep
from agents_app.progress.run_progress import load_runs, load_steps, progress_version, run_progress
from proofroom.core.realtime.base_consumer import PageConsumer
from proofroom.core.realtime.open_page import NOT_AUTHORIZED, OpenPage
from proofroom.core.realtime.polling_hub import CHECK_SECONDS, Hubs, Page, PageHub
from proofroom.core.realtime.sessions import Ticket, still_authorized

CLOSE_NOT_FOUND: Final = 4404
CLOSE_NORMAL: Final = 1000


class RunPage(OpenPage):
    """An open page that shows a run."""

    most_waiting: ClassVar[int] = 50

    def __init__(self, ticket: Ticket, run_id: UUID, language: str) -> None:
        super().__init__(ticket)
        self.run_id = run_id
        self.language = language
        self.mark: tuple[object, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """The result of one look at the database; `changed` are the pages that have news and may still be told."""

    runs: dict[UUID, AgentRun]
    steps: dict[UUID, list[RunStep]]
    changed: Sequence[RunPage]
    refused: Sequence[RunPage]


class PollingHub(PageHub[Page]):
    """Pages that follow rows: looked at whenever something may be new, and now and then whether they still may."""

    most_pages: ClassVar[int] = 1000
    most_pages_of_one: ClassVar[int] = 20

    def __init__(self) -> None:
        super().__init__()
        self._check_at = 0.0

    def looked(self, pages: Sequence[Page], is_due: bool) -> Callable[[], None]:
        """Look at the database; what it answers tells the pages, and reads nothing."""
        raise NotImplementedError

    async def turn(self, pages: Sequence[Page]) -> None:
        is_due = time.monotonic() >= self._check_at
        told = await database_sync_to_async(self.looked)(pages, is_due)
        if is_due:
            self._check_at = time.monotonic() + CHECK_SECONDS
        told()


class RunHub(PollingHub[RunPage]):
    """The pages of this process that follow runs."""

    def looked(self, pages: Sequence[RunPage], is_due: bool) -> Callable[[], None]:
        found = read_run_updates(pages, is_due)
        return lambda: send_run_updates(pages, found)


def select_authorized_pages(
    pages: Sequence[Page], changed: Sequence[Page], is_due: bool
) -> tuple[Sequence[Page], Sequence[Page]]:
    """Return the changed pages that may still be told, and all that must close. Two queries at most."""
    asked = pages if is_due else changed
    if not asked:
        return (), ()
    standing = still_authorized({page.ticket for page in asked})
    refused = [page for page in asked if page.ticket not in standing]
    return [page for page in changed if page not in refused], refused


def read_run_updates(watchers: Sequence[RunPage], is_due: bool) -> _Look:
    """One query; where there is something to tell, three more for all."""
    runs = load_runs({watcher.run_id for watcher in watchers})
    changed = [
        watcher
        for watcher in watchers
        if watcher.run_id in runs and progress_version(runs[watcher.run_id]) != watcher.mark
    ]
    heard, refused = select_authorized_pages(watchers, changed, is_due)
    steps = load_steps({watcher.run_id for watcher in heard}) if heard else {}
    return _Look(runs, steps, heard, refused)


def send_run_updates(watchers: Sequence[RunPage], found: _Look) -> None:
    """Pass on what was found, to each in its own language, and let go of what is over."""
    for watcher in found.refused:
        watcher.end(NOT_AUTHORIZED)
    for watcher in found.changed:
        run = found.runs[watcher.run_id]
        watcher.mark = progress_version(run)
        with translation.override(watcher.language):
            watcher.say(run_progress(run, found.steps.get(run.pk, ())))
        if run.is_finished:
            watcher.finish(CLOSE_NORMAL)
    for watcher in watchers:
        if watcher.run_id not in found.runs:
            watcher.end(CLOSE_NOT_FOUND)


RUN_HUBS: Final[Hubs[RunPage]] = Hubs(RunHub)


class RunConsumer(PageConsumer[RunPage]):
    """`/ws/runs/<id>/?lang=`: how far the run is, each time that it goes on; closed when it ends."""

    permission: ClassVar[str] = "agents.view"
    hubs = RUN_HUBS

    def page_of(self, ticket: Ticket) -> RunPage:
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        language = str(settings.LANGUAGE_CODE)
        # The language of the page, where there is one of that name.
        with suppress(LookupError, ValueError):
            query = self.scope["query_string"].decode("ascii")
            wanted = parse_qs(query, max_num_fields=10).get("lang", [""])[0]
            language = get_supported_language_variant(wanted[:20])
        return RunPage(ticket, run_id, language)
