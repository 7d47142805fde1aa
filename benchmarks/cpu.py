"""CPU time of work in this process, including the database and child processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection

from benchmarks.servers import cpu_seconds


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the clock, of this process's CPU, and of the database's CPU."""

    wall: float
    own: float
    database: float

    @property
    def cpu(self) -> float:
        return self.own + self.database


def measure_cpu(work: Callable[[], object]) -> Spent:
    """Measure the work, including the CPU time of this connection's backend process. The database must be local."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    before = time.perf_counter(), process_cpu(), cpu_seconds(backend)
    work()
    after = time.perf_counter(), process_cpu(), cpu_seconds(backend)
    return Spent(*(end - begin for begin, end in zip(before, after, strict=True)))


def process_cpu() -> float:
    """Return the CPU seconds of all threads of this process and its ended children."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def cpu_of(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process for the work, without the database's."""
    before = process_cpu()
    work()
    return process_cpu() - before
