"""Work in threads that start together, each with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from core.errors import CmsError


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run all of it in threads that start together; the results or refusals, in order."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return work()
        except CmsError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(timeout=120) for future in [pool.submit(run, work) for work in works]]
