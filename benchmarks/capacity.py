"""`python -m benchmarks.capacity`: the measured costs of docs/scaling.md from RESULTS.md, and the rest computed anew.

What RESULTS.md lacks keeps the cost that the page has, or has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "scaling.md"
RESULTS: Final = ROOT / "benchmarks" / "RESULTS.md"

USED: Final = 0.6
"""Of a core, at the busiest hour."""
PEAK: Final = 3
"""The busiest second has so many times the calls of the mean second of its day."""
DAY: Final = 86_400
VIEWS: Final = 1_000_000_000
"""A day."""
EDGE: Final = 0.95
"""Of the views, so many are answered by a CDN."""
KEPT: Final = 0.9
"""Of those that reach the site, so many are answered from what a process keeps."""

COST_HEAD: Final = ("call", "CPU ms", "a core, calls a second", "a core, calls a day")
PLAN_HEAD: Final = ("a billion views a day", "calls a second at the peak", "CPU ms", "cores")
ROWS: Final[Mapping[str, str]] = {
    "page, kept": "GET /blog/:slug, the page, warm",
    "page, rendered": "GET /blog/:slug, the page, cold",
    "list page": "GET /blog, the list",
    "search page": "GET /search",
    "delivery, a post, kept": "GET /api/public/posts/:id, warm",
    "delivery, a post, read": "GET /api/public/posts/:id, cold",
    "delivery, a list, kept": "GET /api/public/posts, warm",
    "delivery, a list, read": "GET /api/public/posts, cold",
    "management, a post": "GET /api/posts/:id",
    "a post created, 5 modules": "POST /api/posts, 5 modules",
    "an approval": "approval of 1 path",
    "an event sent to a webhook": "one event to one webhook",
    "MCP, list_posts": "list_posts, 20, streamable",
    "a view told": "the product",
    "a view added up": "",
}
"""The rows of the page, and what they are called in RESULTS.md. What adds up stands in no table there."""
UNKNOWN: Final = "–"
Costs = Mapping[str, float | None]
"""CPU milliseconds by call; None where nobody measured them."""


@dataclass(frozen=True, slots=True)
class Load:
    """One row of the plan: what a billion views bring to the site at the peak."""

    name: str
    calls: float
    cost: str


def plan() -> list[Load]:
    views = VIEWS * PEAK / DAY
    origin = views * (1 - EDGE)
    return [
        Load("pages from what is kept", origin * KEPT, "page, kept"),
        Load("pages rendered", origin * (1 - KEPT), "page, rendered"),
        Load("views told", views, "a view told"),
        # What is added up may wait for the night: the mean counts, and not the peak.
        Load("views added up", VIEWS / DAY, "a view added up"),
    ]


def tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Each table of a page of Markdown: its head, and its rows."""
    found = []
    for block in re.findall(r"(?m)(?:^\|.*\|$\n?)+", text):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        ]
        found.append((head, rows))
    return found


def measured(text: str) -> dict[str, float]:
    """The CPU milliseconds of each call in RESULTS.md, by its name on the page."""
    named = {name: call for call, name in ROWS.items() if name}
    found: dict[str, float] = {}
    for head, rows in tables(text):
        column = next((n for n, cell in enumerate(head) if cell.startswith("CPU ms")), None)
        if column is None:
            continue
        for row in rows:
            call = named.get(row[0])
            # Views are told in calls of one to a hundred; those of one count.
            if call is not None and (head[1] != "events a call" or row[1] == "1"):
                found.setdefault(call, float(row[column].replace(",", "")))
    return found


def costs_of(page: str) -> dict[str, float | None]:
    """Those that the page has."""
    for head, rows in tables(page):
        if head == list(COST_HEAD):
            return {
                row[0]: None if row[1] == UNKNOWN else float(row[1].replace(",", ""))
                for row in rows
            }
    raise SystemExit(f"{PAGE.name} has no table of costs.")


def computed(costs: Costs) -> dict[tuple[str, ...], list[list[str]]]:
    """The rows of both tables, by their heads."""
    return {
        COST_HEAD: [_served(call, cost) for call, cost in costs.items()],
        PLAN_HEAD: [*_planned(costs)],
    }


def _served(call: str, cost: float | None) -> list[str]:
    if cost is None:
        return [call, *[UNKNOWN] * 3]
    calls = 1000 * USED / cost
    return [call, f"{cost:g}", f"{calls:,.0f}", f"{calls * DAY / PEAK:,.0f}"]


def _planned(costs: Costs) -> Iterator[list[str]]:
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
    yield ["altogether" if is_whole else "of what is measured", "", "", f"{total:,.0f}"]


def render(page: str, costs: Costs) -> str:
    """The page with both tables made of these costs."""
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
