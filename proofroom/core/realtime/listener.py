"""A page that hears of events."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from proofroom.core.realtime.event_tail import After
from proofroom.core.realtime.open_page import OpenPage
from proofroom.core.realtime.presence import Here
from proofroom.core.realtime.sessions import Ticket


class Listener(OpenPage):
    """Of one post, or of all; `after` is what it heard last."""

    def __init__(self, ticket: Ticket, post_id: UUID | None, after: After | None) -> None:
        super().__init__(ticket)
        self.post_id = post_id
        self.after = after
        self.has_begun = False
        self.told_here: Sequence[Here] = ()
