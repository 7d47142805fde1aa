"""Alternating rounds of load, and the table of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks import load
from benchmarks.endpoints import Endpoint
from benchmarks.load import Series
from benchmarks.report import Report
from benchmarks.servers import Server


@dataclass(slots=True)
class Measured:
    """One value per round. The tables show medians."""

    per_second: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def milliseconds(self) -> float:
        """CPU milliseconds of the server's processes per request."""
        return median(self.cpu)


@dataclass(frozen=True, slots=True)
class Rounds:
    """Number and length of rounds. One round loads every endpoint once, the floor next to the product."""

    count: int
    seconds: float
    connections: int
    warm_seconds: float
    least: int = 0

    def measure(
        self,
        endpoints: Sequence[Endpoint],
        floors: Mapping[str, Series],
        product: Server,
        floor: Server,
    ) -> dict[str, Measured]:
        """Return results by name of the endpoint or the floor.

        A series continues its numbers from the warm-up through all rounds. A limited series is split evenly between
        loads.
        """
        wanted = {item.floor for item in endpoints}
        bare = [Endpoint(name, floors[name], name, None) for name in floors if name in wanted]
        jobs = [(item, floor) for item in bare] + [(item, product) for item in endpoints]
        found = {item.name: Measured() for item, _ in jobs}
        shares = {item.name: item.series.share(self.count + 1, self.least) for item, _ in jobs}
        for item, server in jobs:
            load.run(
                server.port,
                item.series,
                status=item.status,
                seconds=self.warm_seconds,
                connections=self.connections,
                most=shares[item.name],
            )
        for number in range(self.count):
            # In alternating order, so that a drift of the machine's speed affects floor and product alike.
            for item, server in jobs if number % 2 == 0 else jobs[::-1]:
                with item.beside():
                    self._once(found[item.name], item, server, shares[item.name])
        return found

    def _once(self, found: Measured, item: Endpoint, server: Server, most: int | None) -> None:
        before = server.cpu_seconds()
        result = load.run(
            server.port,
            item.series,
            status=item.status,
            seconds=self.seconds,
            connections=self.connections,
            least=self.least,
            most=most,
        )
        spent = server.cpu_seconds() - before
        found.per_second.append(result.per_second)
        found.p50.append(result.percentile(50))
        found.p99.append(result.percentile(99))
        found.cpu.append(1000 * spent / len(result.seconds))


def show(endpoints: Sequence[Endpoint], found: dict[str, Measured], report: Report) -> None:
    names = dict.fromkeys(item.floor for item in endpoints)
    rows = [_row(f"floor: {name}", found[name], 1.0, "") for name in names]
    for item in endpoints:
        report.ratios[item.name] = ratio = ratio_of(found[item.name], found[item.floor])
        rows.append(_row(item.name, found[item.name], ratio, f"{item.aim:g}" if item.aim else ""))
    columns = ("endpoint", "req/s", "p50 ms", "p99 ms", "CPU ms", "of the floor", "aim")
    report.show_table(columns, rows)


def ratio_of(found: Measured, floor: Measured) -> float:
    """Return the median of the ratios per round. Both are measured in each round, under the same machine load."""
    return median(ours / bare for ours, bare in zip(found.cpu, floor.cpu, strict=True))


def _row(name: str, found: Measured, ratio: float, aim: str) -> tuple[str, ...]:
    return (
        name, f"{median(found.per_second):,.0f}", f"{median(found.p50):.1f}",
        f"{median(found.p99):.1f}", f"{found.milliseconds:.3f}", f"{ratio:.2f}", aim,
    )  # fmt: skip
