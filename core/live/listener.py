"""A page that hears of events."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from core.live.holders import Ticket
from core.live.open_page import OpenPage
from core.live.presence import Here
from core.live.tail import After


class Listener(OpenPage):
    """Of one post, or of all; `after` is what it heard last."""

    def __init__(self, ticket: Ticket, post_id: UUID | None, after: After | None) -> None:
        super().__init__(ticket)
        self.post_id = post_id
        self.after = after
        self.has_begun = False
        self.told_here: Sequence[Here] = ()
