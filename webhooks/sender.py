"""Sends what is due: one thread keeps the books, another makes the calls, so no receiver holds up another one.

The thread that calls `send_due` does all work with the database. Lanes share nothing but it: each has so many
deliveries under way, and gets further ones as soon as some of its own are over.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable
from typing import Final
from uuid import UUID, uuid4

from webhooks import claims, lanes, lease, results
from webhooks.models import Delivery
from webhooks.wire import Call, Wire

logger = logging.getLogger(__name__)
_CLAIMED: Final = 24
"""Of one lane, so that calls go on while the books are kept. Should all of them hang, claims last long enough."""
_IN_ALL: Final = 480
_LANES: Final = 200
_LOOK_SECONDS: Final = 0.25
_REFRESH_SECONDS: Final = 3.0
_WORK_SECONDS: Final = 60.0
"""After which the work goes to a new message: a worker must be able to stop."""


def send_due() -> tuple[int, bool]:
    """Send until nothing is due. Answers how many calls were made, and whether there is more to do.

    Where another process sends already, it is left alone.
    """
    made = 0
    holder = uuid4()
    until = time.monotonic() + _WORK_SECONDS
    # What arrived just before it was let go, its sender may not have seen, and told nobody else.
    while is_due() and lease.take(holder):
        try:
            with Wire() as wire:
                turn = _Turn(wire, holder, until)
                turn.run()
        finally:
            lease.let_go(holder)
        made += turn.made
        if time.monotonic() >= until:
            return made, is_due()
        if not turn.taken:
            break  # what is due is locked by others; the sweep comes back to it
    return made, False


def is_due() -> bool:
    return claims.claimable().exists()


def is_needed() -> bool:
    """Whether something waits and nobody sends."""
    return is_due() and not lease.is_held()


class _Turn:
    """One holding of the lease."""

    def __init__(self, wire: Wire, holder: UUID, until: float) -> None:
        self._wire = wire
        self._holder = holder
        self._until = until
        self._under_way: Counter[str] = Counter()
        self._awake: set[str] = set()
        self._look_at = self._refresh_at = 0.0
        self._is_ours = True
        self.made = self.taken = 0

    def run(self) -> None:
        """Until nothing is due or the time is over, and everything under way has ended."""
        while True:
            self._hold_on()
            if self._is_ours and time.monotonic() < self._until:
                self._look()
                self._begin()
            if not self._under_way:
                return
            ended = self._wire.ended(_LOOK_SECONDS)
            if ended:
                results.write(ended)
                self.made += len(ended)
                self._take_off(end.delivery for end in ended)

    def _hold_on(self) -> None:
        if time.monotonic() >= self._refresh_at:
            self._is_ours = lease.refresh(self._holder)
            self._refresh_at = time.monotonic() + _REFRESH_SECONDS

    def _look(self) -> None:
        """Which lanes have something to do. The longer looking takes, the more seldom."""
        begun = time.monotonic()
        if begun < self._look_at and self._under_way:
            return
        room = _LANES - len(self._awake | set(self._under_way))
        if room > 0:
            self._awake |= set(claims.lanes_due(but=self._awake)[:room])
        now = time.monotonic()
        self._look_at = now + max(_LOOK_SECONDS, 20 * (now - begun))

    def _begin(self) -> None:
        """Fill up the lanes that have room."""
        room = {lane: self._room(lane) for lane in sorted(self._awake)}
        room = {lane: number for lane, number in room.items() if number > 0}
        if not room:
            return
        taken = claims.claim(room)
        for lane, number in room.items():
            rows = taken.get(lane, [])
            self.taken += len(rows)
            if len(rows) < number:
                # It wakes up again with its next answer, or with the next look.
                self._awake.discard(lane)
            self._wire.send([call for row in rows if (call := self._call(row)) is not None])

    def _room(self, lane: str) -> int:
        share = _IN_ALL // max(1, len(self._awake | set(self._under_way)))
        most = max(2, min(_CLAIMED, share))
        # Half of it at a time at least: a claim is a transaction.
        free = most - self._under_way[lane]
        return free if free >= most // 2 else 0

    def _call(self, delivery: Delivery) -> Call | None:
        if claims.was_cut_off_too_often(delivery):
            results.give_up(delivery, claims.CUT_OFF, failed=True)
            return None
        try:
            call = Call(delivery, lanes.request_of(delivery))
        except lanes.GivenUp as given_up:
            results.give_up(delivery, given_up.reason)
            return None
        except Exception:  # a definition that cannot be used must not end the others
            logger.exception("the request of delivery %s could not be made", delivery.pk)
            results.give_up(delivery, "The request could not be made.", failed=True)
            return None
        self._under_way[delivery.lane] += 1
        return call

    def _take_off(self, ended: Iterable[Delivery]) -> None:
        for delivery in ended:
            self._under_way[delivery.lane] -= 1
            self._awake.add(delivery.lane)
        self._under_way = +self._under_way
