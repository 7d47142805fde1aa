"""The open pages of a process and their hub: one task that reads news for all pages together.

It reads after a notification and at intervals. If notifications don't arrive, it polls frequently.
"""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import translation

from proofroom.core.actor import ActorUser
from proofroom.core.content_scope import reading_scopes
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.database_notifications import Subscription, is_listening, listen
from proofroom.core.json import JsonObject
from proofroom.core.realtime.sessions import PageConnection, still_authorized

logger = logging.getLogger(__name__)
CLOSE_NORMAL: Final = 1000
SERVER_ERROR: Final = 1011
BAD_REQUEST: Final = 4400
NOT_AUTHORIZED: Final = 4401
NOT_FOUND: Final = 4404
TOO_SLOW: Final = 4408
TOO_MANY: Final = 4429


class OpenPage:
    """An open page of a user. Its queue contains messages, or the code to close with."""

    most_waiting: ClassVar[int] = 100
    """Maximum number of queued messages. A page that does not read them is closed and may reconnect."""

    def __init__(self, connection: PageConnection) -> None:
        self.connection = connection
        self.has_ended = False
        self.queue: asyncio.Queue[JsonObject | int] = asyncio.Queue()

    def say(self, message: JsonObject) -> None:
        if self.has_ended:
            return
        if self.queue.qsize() >= self.most_waiting:
            self.end(TOO_SLOW)
        else:
            self.queue.put_nowait(message)

    def end(self, code: int) -> None:
        """Discard queued messages and close with this code."""
        if self.has_ended:
            return
        while not self.queue.empty():
            self.queue.get_nowait()
        self.finish(code)

    def finish(self, code: int) -> None:
        """Close with this code after the queued messages."""
        if not self.has_ended:
            self.has_ended = True
            self.queue.put_nowait(code)


Page = TypeVar("Page", bound=OpenPage)


class Feed(ABC, Generic[Page]):
    """News for pages of one kind. `read` and `load_details` run in a thread, all else in the event loop."""

    channels: ClassVar[Sequence[str]]
    """Channels whose notifications mean that there is news."""
    most_pages: ClassVar[int]
    most_pages_of_one: ClassVar[int]

    def __init__(self) -> None:
        self.pages: set[Page] = set()
        self.has_news = True
        self.is_failing = False
        self.subscriptions: Sequence[Subscription] = ()

    @abstractmethod
    def read(self, pages: Sequence[Page]) -> Collection[Page]:
        """Read news and return the pages to notify. The number of queries must not depend on the number of pages."""

    def load_details(self, pages: Mapping[Page, ActorUser]) -> None:
        """Load the data needed only for messages to these pages, and their users' visibility."""

    @abstractmethod
    def tell(self, pages: Mapping[Page, ActorUser]) -> None:
        """Send the news to these pages, each in a block of `close_on_error`. Runs no queries."""

    @contextmanager
    def handle_read_errors(self) -> Iterator[None]:
        """Log an error in the block and read this feed again soon. Other feeds are not affected."""
        try:
            yield
        except DATABASE_UNREACHABLE:
            raise
        except Exception:
            if not self.is_failing:
                logger.exception(
                    "%s sends no updates to its pages until this works again", type(self).__name__
                )
            self.has_news = self.is_failing = True

    @contextmanager
    def close_on_error(self, page: Page) -> Iterator[None]:
        """Log an error in the block and close the page, which may reconnect."""
        try:
            yield
        except Exception:
            logger.exception(
                "%s cannot update a page and closes its connection", type(self).__name__
            )
            page.end(SERVER_ERROR)


class Snapshot(ABC):
    """The state of a row that pages follow. `version` changes whenever a page must be notified."""

    version: tuple[object, ...]
    is_over: bool

    @abstractmethod
    def message(self) -> JsonObject:
        """Return the message for a page in the active language. Runs no queries."""


SnapshotT = TypeVar("SnapshotT", bound=Snapshot)


class RowPage(OpenPage):
    """An open page for one row. `version` is the last state sent to it."""

    most_waiting: ClassVar[int] = 50

    def __init__(self, connection: PageConnection, row_id: UUID, language: str) -> None:
        super().__init__(connection)
        self.row_id = row_id
        self.language = language
        self.version: tuple[object, ...] | None = None


class RowFeed(Feed[RowPage], Generic[SnapshotT]):
    """Sends pages the state of their row after each change, until it is over."""

    most_pages: ClassVar[int] = 1000
    most_pages_of_one: ClassVar[int] = 20

    def __init__(self) -> None:
        super().__init__()
        self.found: Mapping[UUID, SnapshotT] = {}
        self._hidden: Collection[RowPage] = ()

    @abstractmethod
    def load(self, ids: Collection[UUID]) -> Mapping[UUID, SnapshotT]:
        """Load the existing rows' states. The number of queries must not depend on the number of rows."""

    @abstractmethod
    def load_visible(self, ids: Collection[UUID], person: ActorUser) -> Collection[UUID]:
        """Return the ids that a user limited to a part of the content may view."""

    def load_details(self, pages: Mapping[RowPage, ActorUser]) -> None:
        """Load hidden rows, with one more query per limited user."""
        asked: dict[int, list[RowPage]] = defaultdict(list)
        people = {person.pk: person for person in pages.values() if reading_scopes(person)}
        for page, person in pages.items():
            if person.pk in people:
                asked[person.pk].append(page)
        hidden = set[RowPage]()
        for pk, some in asked.items():
            seen = self.load_visible({page.row_id for page in some}, people[pk])
            hidden |= {page for page in some if page.row_id not in seen}
        self._hidden = hidden

    def read(self, pages: Sequence[RowPage]) -> Collection[RowPage]:
        self.found = found = self.load({page.row_id for page in pages})
        return [
            page
            for page in pages
            if page.row_id not in found or found[page.row_id].version != page.version
        ]

    def tell(self, pages: Mapping[RowPage, ActorUser]) -> None:
        for page in pages:
            with self.close_on_error(page):
                self._notify_page(page)

    def _notify_page(self, page: RowPage) -> None:
        snapshot = self.found.get(page.row_id)
        if snapshot is None or page in self._hidden:
            page.end(NOT_FOUND)
            return
        page.version = snapshot.version
        with translation.override(page.language):
            page.say(snapshot.message())
        if snapshot.is_over:
            page.finish(CLOSE_NORMAL)


CHECK_SECONDS: Final = 2.0
"""Seconds between checks of pages without news, because a logged-out user must not stay connected."""
LOOK_SECONDS: Final = 5.0
"""Seconds between reads of feeds without a notification."""
PAUSE_SECONDS: Final = 0.05
"""Minimum seconds between two turns, so that a burst of notifications is handled in one turn."""


class Hub:
    """The open pages of an event loop, by feed."""

    def __init__(self) -> None:
        self._feeds: dict[type[Feed[Any]], Feed[Any]] = {}
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._read_at = self._checked_at = float("-inf")
        self._is_failing = False

    def join(self, kind: type[Feed[Page]], page: Page) -> bool:
        """Add the page; return False if too many are open."""
        feed = self._feeds.get(kind)
        pages = feed.pages if feed is not None else ()
        own = sum(one.connection.user_id == page.connection.user_id for one in pages)
        if own >= kind.most_pages_of_one or len(pages) >= kind.most_pages:
            return False
        if feed is None:
            feed = self._feeds[kind] = kind()
            wake = partial(self._wake_from_thread, feed)
            feed.subscriptions = [
                listen(channel, lambda _: wake(), lost=wake) for channel in kind.channels
            ]
        feed.pages.add(page)
        self._wake_feed(feed)
        return True

    def leave(self, kind: type[Feed[Page]], page: Page) -> None:
        if kind in self._feeds:
            self._feeds[kind].pages.discard(page)
            self._wake.set()

    async def run(self) -> None:
        """Run until the last page is closed."""
        try:
            while self._feeds:
                begun = time.monotonic()
                # Before the turn, so that a notification during the turn starts another one.
                self._wake.clear()
                try:
                    await self._turn()
                    self._is_failing = False
                except Exception:  # a temporary database failure must not close connections
                    if not self._is_failing:
                        logger.exception("open pages get no updates until this works again")
                    self._is_failing = True
                self._drop_ended()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), self._seconds_to_next_turn())
                pause = min(PAUSE_SECONDS, settings.LIVE_POLL_SECONDS)
                await asyncio.sleep(max(begun + pause - time.monotonic(), 0.0))
        finally:
            self._drop_ended(everyone=True)

    async def _turn(self) -> None:
        """Read the feeds with news, or all at intervals, and notify their pages."""
        now = time.monotonic()
        is_check = now >= self._checked_at + CHECK_SECONDS
        if now >= self._read_at + self._read_interval():
            self._read_at = now
            for feed in self._feeds.values():
                feed.has_news = True
        feeds = [feed for feed in self._feeds.values() if feed.has_news]
        everyone = [page for feed in self._feeds.values() for page in feed.pages]
        pages = {feed: list(feed.pages) for feed in feeds}
        for feed in feeds:
            feed.has_news = False  # news during this turn count for the next one
        try:
            tell = await database_sync_to_async(read_feeds)(pages, everyone if is_check else ())
        # Also if the task is cancelled: the news was not sent.
        except BaseException:
            for feed in feeds:
                feed.has_news = True
            raise
        if is_check:
            self._checked_at = now
        tell()

    def _read_interval(self) -> float:
        if is_listening() and not self._is_failing:
            return LOOK_SECONDS
        return float(settings.LIVE_POLL_SECONDS)

    def _seconds_to_next_turn(self) -> float:
        due_at = min(self._read_at + self._read_interval(), self._checked_at + CHECK_SECONDS)
        return max(due_at - time.monotonic(), 0.0)

    def _drop_ended(self, *, everyone: bool = False) -> None:
        for kind, feed in list(self._feeds.items()):
            feed.pages = {page for page in feed.pages if not (everyone or page.has_ended)}
            if not feed.pages:
                del self._feeds[kind]
                for subscription in feed.subscriptions:
                    subscription.close()

    def _wake_feed(self, feed: Feed[Any]) -> None:
        feed.has_news = True
        self._wake.set()

    def _wake_from_thread(self, feed: Feed[Any]) -> None:
        with suppress(RuntimeError):  # the loop has ended together with its pages
            self._loop.call_soon_threadsafe(self._wake_feed, feed)


def read_feeds(
    pages: Mapping[Feed[Any], Sequence[OpenPage]], checked: Sequence[OpenPage]
) -> Callable[[], None]:
    """Read feeds for their pages. Return a function that sends the news and closes unauthorised pages.

    Pages in `checked` are only authorised. A failing feed does not affect others. Runs two queries more than the
    feeds if there is anything to send or to check.
    """
    told: dict[Feed[Any], Collection[OpenPage]] = {}
    for feed, some in pages.items():
        with feed.handle_read_errors():
            told[feed] = feed.read(some)
    asked = {*checked, *(page for some in told.values() for page in some)}
    users = still_authorized({page.connection for page in asked}) if asked else {}
    heard: dict[Feed[Any], dict[OpenPage, ActorUser]] = {}
    for feed, listeners in told.items():
        to_tell = {page: users[page.connection] for page in listeners if page.connection in users}
        with feed.handle_read_errors():
            if to_tell:
                feed.load_details(to_tell)
            heard[feed] = to_tell
            feed.is_failing = False

    def tell() -> None:
        for page in asked:
            if page.connection not in users:
                page.end(NOT_AUTHORIZED)
        for feed, some in heard.items():
            feed.tell(some)

    return tell


hubs: Final[dict[asyncio.AbstractEventLoop, tuple[Hub, asyncio.Task[None]]]] = {}
"""The hub of each event loop. Its task starts with the first page and ends with the last."""


def hub_here() -> Hub:
    """Return the hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in hubs:
        hub = Hub()

        async def run() -> None:
            try:
                await hub.run()
            finally:
                del hubs[loop]

        # The task starts at the caller's next await, after the caller has joined.
        hubs[loop] = hub, loop.create_task(run())
    return hubs[loop][0]
