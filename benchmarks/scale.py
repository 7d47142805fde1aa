"""The same reads on a site with few posts and on one with many, in turns, to show what grows with the number of
posts.

Measured by the clock, with the database's time, over one connection without other load. URLs are new, but their
content was rendered before: rendering takes the same time on both sites and would hide the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from benchmarks import load
from benchmarks.endpoints import each, new_address
from benchmarks.load import Series, get
from benchmarks.report import Report
from benchmarks.seed import Seeded
from benchmarks.servers import Server

AIM: Final = 1.2
COMMON: Final = "kettle"
"""A word in most posts."""


@dataclass(slots=True)
class Read:
    """A read. `many` is sent to the site with many posts; `few` to the other one, or to the same if `is_deep`."""

    name: str
    many: Series
    few: Series
    is_deep: bool = False
    times: list[tuple[float, float]] = field(default_factory=list)
    """Medians of each round in milliseconds: of many posts, and of few."""

    @property
    def ratio(self) -> float:
        return median(many / few for many, few in self.times)


def reads(few: Seeded, many: Sequence[str], cookie: Mapping[str, str], deep: int) -> list[Read]:
    """Return the reads. `many`: ids of published posts that only the large site has. `cookie`: an editor's, for both
    sites.

    `deep`: a page of twenty that only the large site has. Lists of the admin have fifty rows, so an equally distant
    page is used.
    """
    pages = {
        "GET /api/public/posts": (_new("/api/public/posts"), _new(f"/api/public/posts?page={deep}"), {}),
        "GET /blog": (_new("/blog"), _new(f"/blog?page={deep}"), {}),
        "GET /api/posts": (_same("/api/posts"), _same(f"/api/posts?page={deep}"), cookie),
        "admin: posts": (_same(_ADMIN), _same(f"{_ADMIN}?p={deep * 20 // 50}"), cookie),
    }  # fmt: skip
    single = {
        "GET /api/public/posts/:id": (
            new_address(each("/api/public/posts/", many)),
            new_address(each("/api/public/posts/", few.published)),
            {},
        ),
        "GET /api/posts/:id": (
            each("/api/posts/", many), each("/api/posts/", few.published), cookie,
        ),
        "GET /blog/:slug": (*2 * (new_address(each("", few.pages)),), {}),
        f"GET /search, {COMMON}": (*2 * (_new(f"/search?q={COMMON}"),), {}),
    }  # fmt: skip
    return [
        *(
            Read(name, get(first, headers), get(first, headers))
            for name, (first, _, headers) in pages.items()
        ),
        *(
            Read(name, get(of_many, headers), get(of_few, headers))
            for name, (of_many, of_few, headers) in single.items()
        ),
        *(
            Read(f"{name}, far back", get(far, headers), get(first, headers), is_deep=True)
            for name, (first, far, headers) in pages.items()
        ),
    ]


_ADMIN: Final = "/admin/content/post/"


def _same(path: str) -> Callable[[int], str]:
    return lambda number: path


def _new(path: str) -> Callable[[int], str]:
    return new_address(_same(path))


def measure(found: Sequence[Read], many: Server, few: Server, rounds: int, seconds: float) -> None:
    """Fill the times. Both sites take turns, so that disturbances of the machine affect both."""
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
