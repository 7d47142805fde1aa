"""Messages that tell workers of waiting events.

The row of an event is the truth: what a message that is lost leaves waiting, the sweep finds.
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
"""How long a process that gathers waits between two messages."""
_PER_MESSAGE: Final = 100
"""Events that one message to a worker names."""


def wake_dispatch(events: Sequence[Event]) -> None:
    """Tell workers of waiting events, after the commit."""
    for begin in range(0, len(events), _PER_MESSAGE):
        part = events[begin : begin + _PER_MESSAGE]
        first, last = part[0], part[-1]
        posts = dict.fromkeys(str(event.post_id) for event in part if event.post_id is not None)
        others = [event.pk for event in part if event.post_id is None]
        if gathered_wake_ups.is_on:
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
class _Gathered:
    """Posts with waiting events, and waiting events without a post, of requests with the same ids and trace."""

    ids: dict[WorkId, str]
    trace: dict[str, str]
    request_ids: dict[str, None] = field(default_factory=dict)
    post_ids: dict[str, None] = field(default_factory=dict)
    event_ids: dict[int, None] = field(default_factory=dict)

    def send(self) -> None:
        """Queue the messages, with the ids and the trace that they would have had in the requests."""
        posts, events = [*self.post_ids], [*self.event_ids]
        ids = {**self.ids, "request_id": ",".join(self.request_ids) or None}
        with bind_ids(ids), continue_trace(self.trace):
            for begin in range(0, max(len(posts), len(events)), _PER_MESSAGE):
                part = slice(begin, begin + _PER_MESSAGE)
                queue = partial(queue_task, "core.tasks.dispatch_events", events[part], posts[part])
                send_message(queue, f"events of {len(posts[part])} posts")


class GatheredWakeUps:
    """Sends messages from a thread of its own, so that no request waits for the queue, and many requests at once
    cost one message.

    The first one goes at once, the next a moment later with all that was asked for meanwhile. Off unless a process
    that answers requests turns it on: elsewhere whoever records events sends the message.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.reset()

    def reset(self) -> None:
        """Begin without a thread: also in a child process, to which none is passed on."""
        self._waiting: dict[tuple[object, ...], _Gathered] = {}
        self._condition = Condition()
        self._thread: BackgroundLoop | None = None

    def turn_on(self) -> None:
        """Gather from now on, and send what waits when the process ends."""
        self.is_on = True
        # Web servers fork their processes by multiprocessing, which ends them without what `atexit` knows.
        Finalize(None, self.send_waiting, exitpriority=0)

    def add(self, post_ids: Iterable[str], event_ids: Iterable[int]) -> None:
        """Have workers told of what these posts have waiting, and of these events without a post."""
        ids, trace = {**current_ids()}, trace_headers()
        request_id = ids.pop("request_id", None)
        key = (*ids.items(), None, *trace.items())
        with self._condition:
            gathered = self._waiting.setdefault(key, _Gathered(ids, trace))
            gathered.post_ids |= dict.fromkeys(post_ids)
            gathered.event_ids |= dict.fromkeys(event_ids)
            if request_id is not None:
                gathered.request_ids[request_id] = None
            if self._thread is None:
                self._thread = BackgroundLoop("wake-ups", self._send_later)
                self._thread.start()
            self._condition.notify()

    def send_waiting(self) -> None:
        """Send what waits now, from this thread. What cannot be queued is noted where failures of the queue are."""
        with self._condition:
            waiting, self._waiting = self._waiting, {}
        for gathered in waiting.values():
            gathered.send()

    def _send_later(self) -> bool:
        """Send what waits, once there is something. The sweep finds what a turn that fails leaves."""
        with self._condition:
            self._condition.wait_for(lambda: bool(self._waiting))
        try:
            self.send_waiting()
        finally:
            connections.close_all()
        time.sleep(PAUSE_SECONDS)
        return True


gathered_wake_ups: Final = GatheredWakeUps()
os.register_at_fork(after_in_child=gathered_wake_ups.reset)
