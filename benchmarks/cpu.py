"""CPU time of work in this process, with that of the database and of programs that it starts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection

from benchmarks.servers import cpu_seconds


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the clock, of this process's CPU and of the database's."""

    wall: float
    own: float
    database: float

    @property
    def cpu(self) -> float:
        return self.own + self.database


def measure_cpu(work: Callable[[], object]) -> Spent:
    """With the CPU time of this connection's process in the database, which is on this machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    before = time.perf_counter(), process_cpu(), cpu_seconds(backend)
    work()
    after = time.perf_counter(), process_cpu(), cpu_seconds(backend)
    return Spent(*(end - begin for begin, end in zip(before, after, strict=True)))


def process_cpu() -> float:
    """Of all threads of this process, and of its children that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def cpu_of(work: Callable[[], object]) -> float:
    """Seconds of this process; the database's are not among them."""
    before = process_cpu()
    work()
    return process_cpu() - before
