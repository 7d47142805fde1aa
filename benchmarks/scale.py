"""The same reads of a site of few posts and of one of many, in turns: what grows with the number of posts shows here.

By the clock, the database's time included, over one connection: nothing else is asked for meanwhile. Addresses are
new, and what they show was made before: making it takes as long among many posts as among few, and would hide the
rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from benchmarks import load
from benchmarks.endpoints import each
from benchmarks.list_changes import Change
from benchmarks.load import Series, get
from benchmarks.report import Report
from benchmarks.seed import Seeded
from benchmarks.servers import Server

AIM: Final = 1.2
COMMON: Final = "kettle"
"""A word that most posts have."""


@dataclass(slots=True)
class Read:
    """`many` is asked of the site of many posts, `few` of the other one, or of the same with `is_deep`."""

    name: str
    many: Series
    few: Series
    is_deep: bool = False
    times: list[tuple[float, float]] = field(default_factory=list)
    """Medians of each round in milliseconds: of the many, and of the few."""

    @property
    def ratio(self) -> float:
        return median(many / few for many, few in self.times)


@dataclass(frozen=True, slots=True)
class Changes:
    """What makes the answers of each of the two sites old."""

    many: Change
    few: Change


def reads(
    few: Seeded, many: Sequence[str], cookie: Mapping[str, str], deep: int, changes: Changes
) -> list[Read]:
    """`many` are ids of published posts that only the many have; `cookie` is an editor's, at both.

    `deep` is a page of twenty that only the many have. Lists of the admin have fifty: one as far back is asked for.
    """
    pages = {
        "GET /api/public/posts": (_same("/api/public/posts"), _same(f"/api/public/posts?page={deep}"), {}),
        "GET /blog": (_same("/blog"), _same(f"/blog?page={deep}"), {}),
        "GET /api/posts": (_same("/api/posts"), _same(f"/api/posts?page={deep}"), cookie),
        "admin: posts": (_same(_ADMIN), _same(f"{_ADMIN}?p={deep * 20 // 50}"), cookie),
    }  # fmt: skip
    single = {
        "GET /api/public/posts/:id": (
            each("/api/public/posts/", many),
            each("/api/public/posts/", few.published),
            {},
        ),
        "GET /api/posts/:id": (
            each("/api/posts/", many), each("/api/posts/", few.published), cookie,
        ),
        "GET /blog/:slug": (*2 * (each("", few.pages),), {}),
        f"GET /search, {COMMON}": (*2 * (_same(f"/search?q={COMMON}"),), {}),
    }  # fmt: skip

    def of_visitor(change: Change, headers: Mapping[str, str]) -> Change | None:
        """What staff read is not kept."""
        return None if headers else change

    def both(
        many_path: Callable[[int], str], few_path: Callable[[int], str], headers: Mapping[str, str]
    ) -> tuple[Series, Series]:
        return (
            get(many_path, headers, change=of_visitor(changes.many, headers)),
            get(few_path, headers, change=of_visitor(changes.few, headers)),
        )

    return [
        *(Read(name, *both(first, first, headers)) for name, (first, _, headers) in pages.items()),
        *(
            Read(name, *both(of_many, of_few, headers))
            for name, (of_many, of_few, headers) in single.items()
        ),
        *(
            Read(
                f"{name}, far back",
                get(far, headers, change=of_visitor(changes.many, headers)),
                get(first, headers, change=of_visitor(changes.many, headers)),
                is_deep=True,
            )
            for name, (first, far, headers) in pages.items()
        ),
    ]


_ADMIN: Final = "/admin/content/post/"


def _same(path: str) -> Callable[[int], str]:
    return lambda number: path


def measure(found: Sequence[Read], many: Server, few: Server, rounds: int, seconds: float) -> None:
    """Fills the times. In turns, so that what disturbs the machine disturbs both."""
    for read in found:
        _milliseconds(many, read.many, seconds)
        _milliseconds(few, read.few, seconds)
    for _ in range(rounds):
        for read in found:
            read.times.append(
                (
                    _milliseconds(many, read.many, seconds),
                    _milliseconds(many if read.is_deep else few, read.few, seconds),
                )
            )


def _milliseconds(server: Server, series: Series, seconds: float) -> float:
    return load.run(
        server.port, series, status=200, seconds=seconds, connections=1, least=20
    ).percentile(50)


def show(found: Sequence[Read], report: Report) -> None:
    report.show_table(
        ("read", "ms", "of few, or of page 1, ms", "ratio", "aim"),
        [
            (
                read.name, f"{median(many for many, _ in read.times):.2f}",
                f"{median(few for _, few in read.times):.2f}", f"{read.ratio:.2f}", f"{AIM:g}",
            )
            for read in found
        ],
    )  # fmt: skip
