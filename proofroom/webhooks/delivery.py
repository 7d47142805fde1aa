"""Sending of what is due: one thread does all database work, another makes the calls (`http_calls`).

Channels share nothing but the two threads: each has so many deliveries under way, and gets more as soon as some of
its own have ended, so that no receiver holds up another.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Final
from uuid import UUID, uuid4

from proofroom.webhooks import delivery_channels, delivery_queue, leader_lock, outcomes
from proofroom.webhooks.delivery_queue import MAX_CHANNELS, UNKNOWN_OUTCOME
from proofroom.webhooks.http_calls import Call, CallThread
from proofroom.webhooks.models import Delivery, DeliveryStatus

logger = logging.getLogger(__name__)
MAX_CLAIMED_PER_CHANNEL: Final = 24
"""So that calls go on while outcomes are stored. Should all of them hang, claims last long enough."""
MAX_CLAIMED: Final = 480
POLL_SECONDS: Final = 0.25
RENEW_SECONDS: Final = 3.0
WORK_SECONDS: Final = 60.0
"""After which the work goes to a new message: a worker must be able to stop."""


def send_due() -> tuple[int, bool]:
    """Send until nothing is due. Returns how many calls were made, and whether there is more to do.

    Does nothing where another process sends already.
    """
    made = 0
    holder = uuid4()
    until = time.monotonic() + WORK_SECONDS
    # An event may arrive just before the lock is released, unseen by its holder and announced to nobody else.
    while is_due() and leader_lock.acquire_lock(holder):
        try:
            with CallThread() as calls:
                loop = DeliveryLoop(calls, holder, until)
                loop.run()
        finally:
            leader_lock.release_lock(holder)
        made += loop.made
        if time.monotonic() >= until:
            return made, is_due()
        if not loop.claimed:
            break  # what is due is locked by others; the sweep comes back to it
    return made, False


def is_due() -> bool:
    return delivery_queue.claimable_deliveries().exists()


def needs_sender() -> bool:
    """Return whether something is due and no process sends."""
    return is_due() and not leader_lock.is_locked()


class DeliveryLoop:
    """Sends due deliveries while this process holds the leader lock."""

    def __init__(self, calls: CallThread, holder: UUID, until: float) -> None:
        self.calls = calls
        self.holder = holder
        self.until = until
        self.under_way: Counter[str] = Counter()
        self.ready_channels: set[str] = set()
        self.find_at = self.renew_at = 0.0
        self.has_lock = True
        self.made = self.claimed = 0

    def run(self) -> None:
        """Send until nothing is due or the time is over, and everything under way has ended."""
        while True:
            self.renew_lock()
            if self.has_lock and time.monotonic() < self.until:
                self.find_due_channels()
                self.start_calls()
            if not self.under_way:
                return
            self.finish_calls()

    def renew_lock(self) -> None:
        if time.monotonic() >= self.renew_at:
            self.has_lock = leader_lock.renew_lock(self.holder)
            self.renew_at = time.monotonic() + RENEW_SECONDS

    def find_due_channels(self) -> None:
        """Look for channels that have something to do; the longer a look takes, the rarer they are."""
        begun = time.monotonic()
        if begun < self.find_at and self.under_way:
            return
        room = MAX_CHANNELS - len(self.ready_channels | set(self.under_way))
        if room > 0:
            found = delivery_queue.find_due_channels(exclude=self.ready_channels)
            self.ready_channels |= set(found[:room])
        now = time.monotonic()
        self.find_at = now + max(POLL_SECONDS, 20 * (now - begun))

    def start_calls(self) -> None:
        """Claim deliveries of the channels that have room, and begin their calls."""
        share = MAX_CLAIMED // max(1, len(self.ready_channels | set(self.under_way)))
        most = max(2, min(MAX_CLAIMED_PER_CHANNEL, share))
        room = {channel: most - self.under_way[channel] for channel in sorted(self.ready_channels)}
        # Half of it at a time at least: a claim is a transaction.
        room = {channel: free for channel, free in room.items() if free >= max(1, most // 2)}
        if not room:
            return
        claimed = delivery_queue.claim_deliveries(room)
        for channel, free in room.items():
            rows = claimed.get(channel, [])
            self.claimed += len(rows)
            if len(rows) < free:
                # It is ready again with its next answer, or with the next look.
                self.ready_channels.discard(channel)
            calls = [call for row in rows if (call := self.prepare_call(row)) is not None]
            self.under_way[channel] += len(calls)
            self.calls.send(calls)
        self.under_way = +self.under_way

    def prepare_call(self, delivery: Delivery) -> Call | None:
        """Make the call of a claimed delivery. Finishes the delivery and returns None if there is none to make."""
        is_lost = delivery.status == DeliveryStatus.SENDING
        if is_lost and delivery.attempts > outcomes.max_attempts() + 1:
            # Nothing was ever learnt of its calls: perhaps it is what ends the sender.
            outcomes.give_up(delivery, UNKNOWN_OUTCOME, failed=True)
            return None
        try:
            return Call(delivery, delivery_channels.build_request(delivery))
        except delivery_channels.NothingToSend as nothing:
            outcomes.give_up(delivery, nothing.reason)
        except Exception:  # a definition that cannot be used must not end the others
            logger.exception("the request of delivery %s could not be made", delivery.pk)
            outcomes.give_up(delivery, "The request could not be made.", failed=True)
        return None

    def finish_calls(self) -> None:
        """Wait a moment for calls to end, and store their outcomes."""
        ended = self.calls.ended(POLL_SECONDS)
        if not ended:
            return
        outcomes.store_outcomes(ended)
        self.made += len(ended)
        for end in ended:
            self.under_way[end.delivery.lane] -= 1
            self.ready_channels.add(end.delivery.lane)
        self.under_way = +self.under_way
