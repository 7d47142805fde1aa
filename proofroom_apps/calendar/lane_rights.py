"""What the database role of agents may do with calendar feeds: nothing, because they are secrets."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden

RIGHTS: Final = hidden("proofroom_calendar.CalendarFeed")
