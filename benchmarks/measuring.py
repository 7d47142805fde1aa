"""Alternating rounds of load, and the table of what they took."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import load
from benchmarks.endpoints import Endpoint
from benchmarks.load import Request
from benchmarks.servers import Server


@dataclass(slots=True)
class Measured:
    """One value per round; the medians are what is shown."""

    per_second: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def milliseconds(self) -> float:
        """CPU time of the server's processes per request."""
        return median(self.cpu)


@dataclass(frozen=True, slots=True)
class Rounds:
    """How long and how often; one round loads every endpoint once, the floor beside the product."""

    count: int
    seconds: float
    connections: int
    warm_seconds: float

    def measure(
        self,
        endpoints: Sequence[Endpoint],
        floors: dict[str, Request],
        product: Server,
        floor: Server,
    ) -> dict[str, Measured]:
        """By the name of the endpoint or of the floor."""
        wanted = {item.floor for item in endpoints}
        jobs = [(name, floors[name], floor, 200) for name in floors if name in wanted]
        jobs += [(item.name, item.request, product, item.status) for item in endpoints]
        found = {name: Measured() for name, *_ in jobs}
        for _, request, server, status in jobs:
            load.run(
                server.port,
                request,
                status=status,
                seconds=self.warm_seconds,
                connections=self.connections,
            )
        for number in range(self.count):
            for name, request, server, status in jobs if number % 2 == 0 else jobs[::-1]:
                self._once(found[name], request, server, status)
        return found

    def _once(self, found: Measured, request: Request, server: Server, status: int) -> None:
        before = server.cpu_seconds()
        result = load.run(
            server.port, request, status=status, seconds=self.seconds, connections=self.connections
        )
        spent = server.cpu_seconds() - before
        found.per_second.append(result.per_second)
        found.p50.append(result.percentile(50))
        found.p99.append(result.percentile(99))
        found.cpu.append(1000 * spent / len(result.seconds))


def show(endpoints: Sequence[Endpoint], found: dict[str, Measured]) -> None:
    head = ("endpoint", "req/s", "p50 ms", "p99 ms", "CPU ms", "of the floor", "aim")
    print("\n| " + " | ".join(head) + " |")
    print("|---" + "|---:" * (len(head) - 1) + "|")
    for name in dict.fromkeys(item.floor for item in endpoints):
        _row(f"floor: {name}", found[name], 1.0, "")
    for item in endpoints:
        ratio = found[item.name].milliseconds / found[item.floor].milliseconds
        _row(item.name, found[item.name], ratio, f"{item.aim:g}" if item.aim else "")


def _row(name: str, found: Measured, ratio: float, aim: str) -> None:
    print(
        f"| {name} | {median(found.per_second):,.0f} | {median(found.p50):.1f} "
        f"| {median(found.p99):.1f} | {found.milliseconds:.3f} | {ratio:.2f} | {aim} |"
    )


def machine() -> str:
    """Processor, cores, memory, Python: what the figures depend on."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024 / 1024
    model = names[0] if names else platform.machine()
    return f"{len(names)} cores ({model}), {memory:.0f} GB, Python {platform.python_version()}"
