"""Open pages of a process and their hub: one task, which looks once at a time however many pages there are."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Final, Generic, TypeVar

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, get_user_model
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from proofroom.core.actor import ActorUser
from proofroom.core.json import JsonObject


@dataclass(frozen=True, slots=True)
class Ticket:
    """The ticket of a page: a session, and what that was bound to."""

    user_id: int
    session_key: str
    bound_to: str
    permission: str


def ticket_of(scope: dict[str, Any], permission: str) -> Ticket | None:
    """The ticket of a connection through `AuthMiddlewareStack`; None for who may not come in."""
    user, session = scope["user"], scope["session"]
    if not (user.is_authenticated and user.is_staff and user.has_perm(permission)):
        return None
    return Ticket(user.pk, session.session_key, session[HASH_SESSION_KEY], permission)


def still_authorized(tickets: Collection[Ticket]) -> dict[Ticket, ActorUser]:
    """Return whose tickets still hold: the session stands, and the account has what it had. Two queries."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    keys = store.get_model_class()._default_manager.filter(
        session_key__in={ticket.session_key for ticket in tickets}, expire_date__gt=timezone.now()
    )
    standing = set(keys.values_list("session_key", flat=True))
    people = get_user_model()._default_manager.in_bulk({ticket.user_id for ticket in tickets})
    authorized: dict[Ticket, ActorUser] = {}
    for ticket in tickets:
        user: Any = people.get(ticket.user_id)
        if (
            ticket.session_key in standing
            and user is not None
            and user.is_staff
            and user.has_perm(ticket.permission)
            and constant_time_compare(ticket.bound_to, user.get_session_auth_hash())
        ):
            authorized[ticket] = user
    return authorized


BAD_REQUEST: Final = 4400
NOT_AUTHORIZED: Final = 4401
TOO_SLOW: Final = 4408
TOO_MANY: Final = 4429


class OpenPage:
    """A page, and whose it is. What the queue holds is a message, or the code to close with."""

    most_waiting: ClassVar[int] = 100
    """Messages that wait for a page; one that takes none is dropped, and may come again."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
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
        """Send nothing more that waits, and close with this code."""
        if self.has_ended:
            return
        while not self.queue.empty():
            self.queue.get_nowait()
        self.finish(code)

    def finish(self, code: int) -> None:
        """Close with this code after what waits to be sent."""
        if not self.has_ended:
            self.has_ended = True
            self.queue.put_nowait(code)


logger = logging.getLogger(__name__)
CHECK_SECONDS: Final = 2.0
"""How often pages are looked at that nothing is told to: who was logged out must not stay connected."""
Page = TypeVar("Page", bound=OpenPage)


class PageHub(ABC, Generic[Page]):
    """The pages of this process that follow one thing."""

    most_pages: ClassVar[int]
    most_pages_of_one: ClassVar[int]

    def __init__(self) -> None:
        self._pages: set[Page] = set()
        self._wake = asyncio.Event()
        self._is_failing = False

    @abstractmethod
    async def turn(self, pages: Sequence[Page]) -> None:
        """Look once, and tell these pages what is new."""

    def join(self, page: Page) -> bool:
        """Tell it from now on; False where too many are open."""
        own = [one for one in self._pages if one.ticket.user_id == page.ticket.user_id]
        if len(own) >= self.most_pages_of_one or len(self._pages) >= self.most_pages:
            return False
        self._pages.add(page)
        self._wake.set()
        return True

    def leave(self, page: Page) -> None:
        self._pages.discard(page)
        self._wake.set()

    async def run(self) -> None:
        """Until the last page is closed."""
        while self._pages:
            self._wake.clear()
            try:
                await self.turn(list(self._pages))
                self._is_failing = False
            except Exception:  # a database that is away for a moment ends no connection
                if not self._is_failing:
                    logger.exception("open pages are told nothing until this works again")
                self._is_failing = True
            self._pages = {page for page in self._pages if not page.has_ended}
            try:
                await asyncio.wait_for(self._wake.wait(), settings.LIVE_POLL_SECONDS)
            except TimeoutError:
                continue


class Hubs(Generic[Page]):
    """A hub in each event loop; its task starts with the first page and ends with the last."""

    def __init__(self, make: Callable[[], PageHub[Page]]) -> None:
        self._make = make
        self.at_work: dict[asyncio.AbstractEventLoop, tuple[PageHub[Page], asyncio.Task[None]]] = {}

    def here(self) -> PageHub[Page]:
        """The hub of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self.at_work:
            made = self._make()
            # It begins when the caller waits, and has joined by then.
            self.at_work[loop] = made, loop.create_task(self._run(made, loop))
        return self.at_work[loop][0]

    async def _run(self, made: PageHub[Page], loop: asyncio.AbstractEventLoop) -> None:
        try:
            await made.run()
        finally:
            self.at_work.pop(loop, None)
