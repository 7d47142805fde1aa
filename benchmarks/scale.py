"""The same reads of a site of few posts and of one of many, in turns: what grows with the number of posts shows here.

By the clock, the database's time included, over one connection: nothing else is asked for meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import Final

from benchmarks import load
from benchmarks.load import Request, get
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
    many: Request
    few: Request
    is_deep: bool = False
    times: list[tuple[float, float]] = field(default_factory=list)
    """Medians of each round in milliseconds: of the many, and of the few."""

    @property
    def ratio(self) -> float:
        return median(many / few for many, few in self.times)


def reads(few: Seeded, many: Sequence[str], cookie: Mapping[str, str], deep: int) -> list[Read]:
    """`many` are ids of published posts that only the many have; `cookie` is an editor's, at both.

    `deep` is a page of twenty that only the many have. Lists of the admin have fifty: one as far back is asked for.
    """
    rows = [
        Read("GET /api/public/posts", get(_new("/api/public/posts")), get(_new("/api/public/posts"))),
        Read(
            "GET /api/public/posts/:id",
            get(_new("/api/public/posts/", many)), get(_new("/api/public/posts/", few.published)),
        ),
        Read("GET /blog", get(_new("/blog")), get(_new("/blog"))),
        Read("GET /blog/:slug", get(_new("", few.pages)), get(_new("", few.pages))),
        Read("GET /search", get(_new(f"/search?q={COMMON}")), get(_new(f"/search?q={COMMON}"))),
        Read("GET /api/posts", get(_same("/api/posts"), cookie), get(_same("/api/posts"), cookie)),
        Read(
            "GET /api/posts/:id",
            get(_each("/api/posts/", many), cookie), get(_each("/api/posts/", few.published), cookie),
        ),
        Read("admin: posts", get(_same(_ADMIN), cookie), get(_same(_ADMIN), cookie)),
    ]  # fmt: skip
    return rows + [
        Read(f"GET {path}, page {deep}", get(_new(f"{path}?page={deep}")), get(_new(path)), is_deep=True)
        for path in ("/api/public/posts", "/blog")
    ] + [
        Read(
            f"{name}, page {page}",
            get(_same(f"{path}?{parameter}={page}"), cookie), get(_same(path), cookie), is_deep=True,
        )
        for name, path, parameter, page in (
            ("GET /api/posts", "/api/posts", "page", deep),
            ("admin: posts", _ADMIN, "p", deep * 20 // 50),
        )
    ]  # fmt: skip


_ADMIN: Final = "/admin/content/post/"
_numbers: Final = count()


def _same(path: str) -> Callable[[int], str]:
    return lambda number: path


def _each(prefix: str, names: Sequence[str]) -> Callable[[int], str]:
    return lambda number: f"{prefix}{names[number % len(names)]}"


def _new(path: str, names: Sequence[str] = ("",)) -> Callable[[int], str]:
    """Addresses that were never asked for, so that nothing kept answers."""
    mark = "&" if "?" in path else "?"
    return lambda number: f"{path}{names[number % len(names)]}{mark}n={next(_numbers)}"


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


def _milliseconds(server: Server, request: Request, seconds: float) -> float:
    return load.run(
        server.port, request, status=200, seconds=seconds, connections=1, least=20
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
