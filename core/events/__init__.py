"""Events: recorded in the transaction of their cause, dispatched after commit, swept when a message got lost.

The row is the truth; the message to the worker is only a wake-up. Which events there are stands in each app's
`event_kinds.py`.
"""

from __future__ import annotations

from core.events.again import tell_again
from core.events.calling import require_own_round
from core.events.dispatching import dispatch, dispatch_all, given_up, sweep, waiting
from core.events.due import MAX_ATTEMPTS
from core.events.kinds import EventKind, all_kinds, find_kind, kind_of
from core.events.recording import events_forgotten, forget, record, record_all, subscribe_inside
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
    "dispatch_all",
    "events_forgotten",
    "find_kind",
    "forget",
    "given_up",
    "kind_of",
    "live_state",
    "lock_content_version",
    "record",
    "record_all",
    "require_own_round",
    "subscribe",
    "subscribe_inside",
    "sweep",
    "tell_again",
    "version_last",
    "waiting",
]
