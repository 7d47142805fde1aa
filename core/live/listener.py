"""One open page, and what still has to be sent to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.json import JsonObject
from core.live.holders import Ticket
from core.live.presence import Here
from core.live.tail import After

MOST_WAITING: Final = 100
"""Messages that wait for a page; one that takes none is dropped, and may come again."""
BAD_REQUEST: Final = 4400
NOT_LET_IN: Final = 4401
TOO_SLOW: Final = 4408
TOO_MANY: Final = 4429


class Listener:
    """An open page. What the queue holds is a message, or the code to close with."""

    def __init__(self, ticket: Ticket, post_id: UUID | None, after: After | None) -> None:
        self.ticket = ticket
        self.post_id = post_id
        self.after = after
        self.has_begun = False
        self.has_ended = False
        self.told_here: Sequence[Here] = ()
        self.queue: asyncio.Queue[JsonObject | int] = asyncio.Queue(MOST_WAITING)

    def say(self, message: JsonObject) -> None:
        if self.has_ended:
            return
        if self.queue.full():
            self.end(TOO_SLOW)
        else:
            self.queue.put_nowait(message)

    def end(self, code: int) -> None:
        """Send nothing more that waits, and close with this code."""
        self.has_ended = True
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(code)
