"""Messages that wake workers for new events.

The rows hold the state: the sweep finds events whose message was lost.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.util import Finalize
from threading import Condition
from typing import Final

from django.db import connections, transaction

from proofroom.core.models import Event
from proofroom.core.observability.background_loop import BackgroundLoop
from proofroom.core.observability.operations import continue_trace, trace_headers
from proofroom.core.observability.work_ids import WorkId, bind_ids, current_ids
from proofroom.core.task_queue import queue_task, send_after_commit, send_message

logger = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 0.1
"""Seconds between two messages of a process that collects wake-ups."""
_EVENTS_PER_MESSAGE: Final = 100
"""Number of events in one message."""


def wake_dispatch(events: Sequence[Event]) -> None:
    """Send workers messages about new events, after the commit."""
    for begin in range(0, len(events), _EVENTS_PER_MESSAGE):
        part = events[begin : begin + _EVENTS_PER_MESSAGE]
        first, last = part[0], part[-1]
        posts = dict.fromkeys(str(event.post_id) for event in part if event.post_id is not None)
        others = [event.pk for event in part if event.post_id is None]
        if gathered_wake_ups.is_on:
            # `robust`: a failure must not stop other callbacks of the commit.
            transaction.on_commit(partial(gathered_wake_ups.add, posts, others), robust=True)
        elif first is last:
            send_after_commit(
                partial(
                    queue_task, "core.tasks.dispatch_event", first.pk, str(first.post_id or "")
                ),
                f"event {first.pk}",
            )
        else:
            send_after_commit(
                partial(queue_task, "core.tasks.dispatch_events", others, [*posts]),
                f"events {first.pk} to {last.pk}",
            )


@dataclass(slots=True)
class _WakeUpGroup:
    """Posts and events without a post, from requests with the same ids and trace."""

    ids: dict[WorkId, str]
    trace: dict[str, str]
    request_ids: dict[str, None] = field(default_factory=dict)
    post_ids: dict[str, None] = field(default_factory=dict)
    event_ids: dict[int, None] = field(default_factory=dict)

    def send(self) -> None:
        """Queue the messages with the ids and the trace of their requests."""
        posts, events = [*self.post_ids], [*self.event_ids]
        ids = {**self.ids, "request_id": ",".join(self.request_ids) or None}
        with bind_ids(ids), continue_trace(self.trace):
            for begin in range(0, max(len(posts), len(events)), _EVENTS_PER_MESSAGE):
                part = slice(begin, begin + _EVENTS_PER_MESSAGE)
                queue = partial(queue_task, "core.tasks.dispatch_events", events[part], posts[part])
                send_message(queue, f"events of {len(posts[part])} posts")


class BatchedNotifier:
    """Sends messages from a separate thread, so that requests don't wait for the queue and share messages.

    The first message is sent at once, the next one after a pause with all wake-ups since then. Off unless a web
    process turns it on; other processes send the message themselves.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.reset()

    def reset(self) -> None:
        """Start without a thread. Also called in a forked child, because threads do not survive a fork."""
        self._groups: dict[tuple[object, ...], _WakeUpGroup] = {}
        self._condition = Condition()
        self._thread: BackgroundLoop | None = None

    def turn_on(self) -> None:
        """Start collecting, and send the rest when the process ends."""
        self.is_on = True
        # Web servers fork their processes with multiprocessing, which skips `atexit` handlers.
        Finalize(None, self.send_waiting, exitpriority=0)

    def add(self, post_ids: Iterable[str], event_ids: Iterable[int]) -> None:
        """Wake workers for the open events of these posts, and for these events without a post."""
        ids, trace = {**current_ids()}, trace_headers()
        request_id = ids.pop("request_id", None)
        # None separates the two, so that different pairs give different keys.
        key = (*ids.items(), None, *trace.items())
        with self._condition:
            group = self._groups.setdefault(key, _WakeUpGroup(ids, trace))
            group.post_ids |= dict.fromkeys(post_ids)
            group.event_ids |= dict.fromkeys(event_ids)
            if request_id is not None:
                group.request_ids[request_id] = None
            if self._thread is None:
                self._thread = BackgroundLoop("wake-ups", self._send_later)
                self._thread.start()
            self._condition.notify()

    def send_waiting(self) -> None:
        """Send what was collected, from this thread. Failures are recorded as failures of the queue."""
        with self._condition:
            waiting, self._groups = self._groups, {}
        for group in waiting.values():
            group.send()

    def _send_later(self) -> bool:
        """Wait for wake-ups and send them. If it fails, the sweep finds the events."""
        with self._condition:
            self._condition.wait_for(lambda: bool(self._groups))
        try:
            self.send_waiting()
        finally:
            connections.close_all()
        time.sleep(PAUSE_SECONDS)
        return True


gathered_wake_ups: Final = BatchedNotifier()
os.register_at_fork(after_in_child=gathered_wake_ups.reset)
