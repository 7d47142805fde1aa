"""Worker threads: as many as connections, and no blocking of reads by waiting calls."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest

from mcp_bridge.worker_threads import DATABASE_THREADS, WAITING_THREADS, Workers


def test_no_more_threads_run_than_there_are_connections() -> None:
    running: list[int] = []
    seen: list[int] = []
    lock = threading.Lock()
    pause = threading.Event()

    def work() -> None:
        with lock:
            running.append(1)
            seen.append(len(running))
        pause.wait(0.02)
        with lock:
            running.pop()

    async def main() -> None:
        workers = Workers()
        async with anyio.create_task_group() as group:
            for _ in range(4 * DATABASE_THREADS):
                group.start_soon(workers.run, work)

    anyio.run(main)

    assert len(seen) == 4 * DATABASE_THREADS
    assert max(seen) == DATABASE_THREADS


def test_waiting_work_keeps_no_quick_work_out() -> None:
    released = threading.Event()

    async def main() -> str:
        workers = Workers()
        answer = ""
        async with anyio.create_task_group() as group:
            for number in range(2 * WAITING_THREADS):
                group.start_soon(workers.run_waiting, str(number), released.wait, 10)
            await anyio.sleep(0.05)
            try:
                with anyio.fail_after(2):
                    answer = await workers.run(lambda: "read")
            finally:
                released.set()
        return answer

    assert anyio.run(main) == "read"


@pytest.mark.parametrize("run", [Workers.run_waiting, Workers.run_for])
def test_work_of_one_credential_that_waits_leaves_room_for_another(run: Any) -> None:
    released = threading.Event()

    async def main() -> str:
        workers = Workers()
        answer = ""
        async with anyio.create_task_group() as group:
            for _ in range(2 * max(WAITING_THREADS, DATABASE_THREADS)):
                group.start_soon(run, workers, "one", released.wait, 10)
            await anyio.wait_all_tasks_blocked()
            try:
                with anyio.fail_after(2):
                    answer = await run(workers, "other", lambda: "mine")
            finally:
                released.set()
        return answer

    assert anyio.run(main) == "mine"
