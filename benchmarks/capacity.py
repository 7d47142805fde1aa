"""`python -m benchmarks.capacity`: updates docs/explanation/scaling.md: costs from RESULTS.md, the rest computed.

A cost missing in RESULTS.md keeps its value on the page, if any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "explanation" / "scaling.md"
RESULTS: Final = ROOT / "benchmarks" / "RESULTS.md"

USED: Final = 0.6
"""Share of a core in use at the busiest hour."""
PEAK: Final = 3
"""Ratio of the calls in the busiest second to the mean second of a day."""
DAY: Final = 86_400
VIEWS: Final = 1_000_000_000
"""Views per day."""
EDGE: Final = 0.95
"""Share of views answered by a CDN."""
KEPT: Final = 0.9
"""Share of the remaining views answered from a process's cache."""

COST_HEAD: Final = ("call", "CPU ms", "a core, calls a second", "a core, calls a day")
PLAN_HEAD: Final = ("a billion views a day", "calls a second at the peak", "CPU ms", "cores")
ROWS: Final[Mapping[str, str]] = {
    "page, cached": "GET /blog/:slug, the page, warm",
    "page, rendered": "GET /blog/:slug, the page, cold",
    "list page": "GET /blog, the list",
    "search page": "GET /search",
    "delivery, a post, cached": "GET /api/public/posts/:id, warm",
    "delivery, a post, uncached": "GET /api/public/posts/:id, cold",
    "delivery, a list, cached": "GET /api/public/posts, warm",
    "delivery, a list, uncached": "GET /api/public/posts, cold",
    "management, a post": "GET /api/posts/:id",
    "a post created, 5 modules": "POST /api/posts, 5 modules",
    "an approval": "approval of 1 path",
    "an event sent to a webhook": "one event to one webhook",
    "MCP, list_posts": "list_posts, 20, streamable",
    "a view recorded": "the product",
    "a view aggregated": "",
}
"""The rows of the page, and their names in RESULTS.md. Aggregation has no table there."""
UNKNOWN: Final = "–"
Costs = Mapping[str, float | None]
"""CPU milliseconds by call; None if not measured."""


@dataclass(frozen=True, slots=True)
class Load:
    """A row of the plan: the load of a billion views on the site at the peak."""

    name: str
    calls: float
    cost: str


def plan() -> list[Load]:
    views = VIEWS * PEAK / DAY
    origin = views * (1 - EDGE)
    return [
        Load("cached pages", origin * KEPT, "page, cached"),
        Load("pages rendered", origin * (1 - KEPT), "page, rendered"),
        Load("views recorded", views, "a view recorded"),
        # Aggregation can wait until the night, so its load is the mean, not the peak.
        Load("views aggregated", VIEWS / DAY, "a view aggregated"),
    ]


def tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Return the tables of a Markdown page: head and rows."""
    found = []
    for block in re.findall(r"(?m)(?:^\|.*\|$\n?)+", text):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        ]
        found.append((head, rows))
    return found


def measured(text: str) -> dict[str, float]:
    """Return the CPU milliseconds of the calls in RESULTS.md, by their names on the page."""
    named = {name: call for call, name in ROWS.items() if name}
    found: dict[str, float] = {}
    for head, rows in tables(text):
        column = next((n for n, cell in enumerate(head) if cell.startswith("CPU ms")), None)
        if column is None:
            continue
        for row in rows:
            call = named.get(row[0])
            # Views are recorded in calls of 1 to 100 events; calls with one event count here.
            if call is not None and (head[1] != "events a call" or row[1] == "1"):
                found.setdefault(call, float(row[column].replace(",", "")))
    return found


def costs_of(page: str) -> dict[str, float | None]:
    """Return the costs on the page."""
    for head, rows in tables(page):
        if head == list(COST_HEAD):
            return {
                row[0]: None if row[1] == UNKNOWN else float(row[1].replace(",", ""))
                for row in rows
            }
    raise SystemExit(f"{PAGE.name} has no table of costs.")


def computed(costs: Costs) -> dict[tuple[str, ...], list[list[str]]]:
    """Return the rows of both tables, by their heads."""
    return {
        COST_HEAD: [_cost_row(call, cost) for call, cost in costs.items()],
        PLAN_HEAD: [*_plan_rows(costs)],
    }


def _cost_row(call: str, cost: float | None) -> list[str]:
    if cost is None:
        return [call, *[UNKNOWN] * 3]
    calls = 1000 * USED / cost
    return [call, f"{cost:g}", f"{calls:,.0f}", f"{calls * DAY / PEAK:,.0f}"]


def _plan_rows(costs: Costs) -> Iterator[list[str]]:
    total, is_whole = 0.0, True
    for load in plan():
        cost = costs[load.cost]
        if cost is None:
            is_whole = False
            yield [load.name, f"{load.calls:,.0f}", UNKNOWN, UNKNOWN]
            continue
        cores = load.calls * cost / 1000 / USED
        total += cores
        yield [load.name, f"{load.calls:,.0f}", f"{cost:g}", f"{cores:,.0f}"]
    yield ["sum" if is_whole else "sum of the measured rows", "", "", f"{total:,.0f}"]


def render(page: str, costs: Costs) -> str:
    """Return the page with both tables computed from these costs."""
    for head, rows in computed(costs).items():
        lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
        table = "\n".join([lines[0], "|---" + "|---:" * (len(head) - 1) + "|", *lines[1:]])
        before, first, rest = page.partition(f"| {' | '.join(head)} |\n")
        _, _, after = (first + rest).partition("\n\n")
        page = f"{before}{table}\n\n{after}"
    return page


def refresh() -> None:
    page = PAGE.read_text()
    costs = costs_of(page)
    found = measured(RESULTS.read_text())
    PAGE.write_text(render(page, {call: found.get(call, costs[call]) for call in ROWS}))


if __name__ == "__main__":
    refresh()
