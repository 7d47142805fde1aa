"""Events: recorded in the transaction of their cause, and dispatched after the commit.

The row holds the state; the message to the worker only wakes it, and a sweep finds events whose message was lost. The
kinds of events are declared in each app's `event_kinds.py`.
"""

from __future__ import annotations

from proofroom.core.outbox.dispatch import (
    MAX_ATTEMPTS,
    dispatch,
    dispatch_all,
    dispatch_posts,
    failed_events,
    insert_with_deliveries,
    redeliver,
    require_own_transaction,
    sweep,
    waiting_event_ids,
)
from proofroom.core.outbox.events import (
    EventKind,
    Subscriber,
    all_kinds,
    events_forgotten,
    find_kind,
    forget,
    kind_of,
    public_name_of,
    public_payload_of,
    record,
    record_all,
    record_each,
    recorded_names,
    subscribe,
    subscribe_in_transaction,
    subscribe_to_many,
)

__all__ = [
    "MAX_ATTEMPTS",
    "EventKind",
    "Subscriber",
    "all_kinds",
    "dispatch",
    "dispatch_all",
    "dispatch_posts",
    "events_forgotten",
    "failed_events",
    "find_kind",
    "forget",
    "insert_with_deliveries",
    "kind_of",
    "public_name_of",
    "public_payload_of",
    "record",
    "record_all",
    "record_each",
    "recorded_names",
    "redeliver",
    "require_own_transaction",
    "subscribe",
    "subscribe_in_transaction",
    "subscribe_to_many",
    "sweep",
    "waiting_event_ids",
]
