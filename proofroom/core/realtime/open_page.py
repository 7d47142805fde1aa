"""One open page, and what still has to be sent to it."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Final

from proofroom.core.json import JsonObject
from proofroom.core.realtime.sessions import Ticket

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
