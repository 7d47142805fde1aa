"""Events: recorded in the transaction of their cause, dispatched after commit, swept when a message got lost.

The row is the truth; the message to the worker is only a wake-up. Which events there are stands in each app's
`event_kinds.py`.
"""

from __future__ import annotations

from core.events.dispatching import MAX_ATTEMPTS, dispatch, waiting
from core.events.kinds import EventKind, all_kinds, find_kind, kind_of
from core.events.recording import (
    forget,
    record,
    record_all,
    subscribe_forgotten,
    subscribe_inside,
)
from core.events.subscribers import Subscriber, subscribe
from core.events.versions import (
    LiveState,
    bump_content_version,
    content_version,
    live_state,
    lock_content_version,
    version_last,
)

__all__ = [
    "MAX_ATTEMPTS",
    "EventKind",
    "LiveState",
    "Subscriber",
    "all_kinds",
    "bump_content_version",
    "content_version",
    "dispatch",
    "find_kind",
    "forget",
    "kind_of",
    "live_state",
    "lock_content_version",
    "record",
    "record_all",
    "subscribe",
    "subscribe_forgotten",
    "subscribe_inside",
    "version_last",
    "waiting",
]
