"""How often redirects led on: counted in each process, written a few seconds later.

A write for each visitor would make a row that many ask for a row that they all wait for. A process that is killed
loses the hits of those seconds.
"""

from __future__ import annotations

import atexit
import logging
from collections import Counter
from threading import Lock, Timer
from typing import Final
from uuid import UUID

from django.db import DatabaseError, connections, transaction
from django.db.models import F

from seo.models import Redirect

logger = logging.getLogger(__name__)
WRITE_SECONDS = 5.0
"""How long hits wait; 0 writes each at once."""
_MOST_WAITING: Final = 1000
"""Redirects whose hits wait at most: beyond it they are written by whoever comes."""


class Hits:
    """Hits that are not written yet."""

    def __init__(self) -> None:
        self._waiting: Counter[UUID] = Counter()
        self._lock = Lock()
        self._timer: Timer | None = None

    def add(self, redirect_id: UUID) -> None:
        """One more visitor was led on."""
        with self._lock:
            self._waiting[redirect_id] += 1
            is_due = WRITE_SECONDS == 0 or len(self._waiting) > _MOST_WAITING
            if not is_due and self._timer is None:
                self._timer = Timer(WRITE_SECONDS, self._write_apart)
                self._timer.daemon = True
                self._timer.start()
        if is_due:
            self.write()

    def write(self) -> None:
        """Write what waits, in one transaction. Where the database is busy it waits for the next time."""
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
            self._timer = None
        if not waiting:
            return
        try:
            with transaction.atomic():
                # In one order, so that two processes do not wait for each other.
                for redirect_id, number in sorted(waiting.items()):
                    rows = Redirect.objects.filter(pk=redirect_id)
                    rows.update(hits=F("hits") + number)
        except DatabaseError:
            logger.warning("hits of %s redirects wait", len(waiting), exc_info=True)
            with self._lock:
                self._waiting += waiting

    def _write_apart(self) -> None:
        """In a thread of its own, whose connection nobody else would close."""
        try:
            self.write()
        finally:
            connections.close_all()


hits: Final = Hits()
atexit.register(hits.write)
