"""Startup and memory of the product's processes, next to a site with only Django under the same server."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import servers
from benchmarks.report import Report
from benchmarks.servers import Server, processes_below
from proofroom.accounts.models import User

Start = Callable[[], AbstractContextManager[Server]]


@dataclass(frozen=True, slots=True)
class Memory:
    """KiB of a tree of processes. `proportional` (PSS) counts shared memory in parts, `unique` (USS) not at all."""

    processes: int
    proportional: int
    unique: int


@dataclass(frozen=True, slots=True)
class Started:
    """Seconds from the command to the first response, CPU seconds, and the memory at that time."""

    name: str
    seconds: float
    cpu: float
    memory: Memory


def measure(rounds: int, *, whole: bool) -> list[Started]:
    """Measure in turns, Django alone first. `whole`: also measure all that `./run` starts, once."""
    ways: dict[str, Start] = {
        "Django alone": servers.bare_site,
        "a web process": lambda: servers.product({}, 1),
    }
    found: dict[str, list[Started]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, start in ways.items():
            found[name].append(_started(name, start))
    rows = [_middle(times) for times in found.values()]
    if whole:
        # With an account, `./run` creates no sample content.
        User.objects.create_user("processes@example.com", None, role="admin")
        rows.append(_started("all that ./run starts", servers.whole_site))
    return rows


def _started(name: str, start: Start) -> Started:
    begin = time.perf_counter()
    with start() as server:
        seconds, cpu = time.perf_counter() - begin, server.cpu_seconds()
        return Started(name, seconds, cpu, memory_of(server.pid))


def _middle(times: list[Started]) -> Started:
    return Started(
        times[0].name,
        median(one.seconds for one in times),
        median(one.cpu for one in times),
        sorted((one.memory for one in times), key=lambda memory: memory.proportional)[
            len(times) // 2
        ],
    )


def memory_of(root: int) -> Memory:
    """Return the memory of a process and its descendants."""
    sizes = [_sizes(pid) for pid in processes_below(root)]
    return Memory(
        len(sizes),
        sum(size["Pss"] for size in sizes),
        sum(size["Private_Clean"] + size["Private_Dirty"] for size in sizes),
    )


def _sizes(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}


def show(rows: list[Started], report: Report) -> None:
    bare, web = rows[0], rows[1]
    report.ratios["start of a web process"] = web.cpu / bare.cpu
    report.ratios["memory of a web process"] = web.memory.proportional / bare.memory.proportional
    report.show_table(
        (
            "what", "processes", "first answer after ms", "CPU ms until then", "of Django alone",
            "PSS MiB", "of Django alone", "USS MiB",
        ),
        [
            (
                row.name, str(row.memory.processes), f"{1000 * row.seconds:,.0f}",
                f"{1000 * row.cpu:,.0f}", f"{row.cpu / bare.cpu:.1f}",
                f"{row.memory.proportional / 1024:.0f}",
                f"{row.memory.proportional / bare.memory.proportional:.1f}",
                f"{row.memory.unique / 1024:.0f}",
            )
            for row in rows
        ],
    )  # fmt: skip
