"""The measured endpoints of the product, and the floor of each."""

from __future__ import annotations

import itertools
import json
import re
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from benchmarks.edits import each_second
from benchmarks.list_changes import Change
from benchmarks.load import Series, get
from benchmarks.seed import WORDS, Seeded
from benchmarks.servers import Server
from content.api.delivery.posts import LISTED

WARM = 10
"""Number of URLs in the warm rounds."""
ASKED: Final = tuple(itertools.combinations(WORDS, 2))
"""Search queries: pairs of words that most posts contain, each used once."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint. `aim`: largest CPU time per request as a multiple of the floor's; None without an aim."""

    name: str
    series: Series
    floor: str
    aim: float | None
    status: int = 200
    beside: Callable[[], AbstractContextManager[object]] = nullcontext
    """Context that runs during the measurement."""


def endpoints(
    seeded: Seeded, cookie: Mapping[str, str], etag: str, change: Change
) -> list[Endpoint]:
    """Return the endpoints. Cold rows use no post of a warm row, and no two cold rows use the same page. `etag`: the
    result of `etag_of`.
    """
    live, every = seeded.published, seeded.any
    warm_pages, new_pages = seeded.pages[:WARM], seeded.pages[WARM:]
    return [
        # The management API has no cache, and its lists refuse undeclared parameters.
        Endpoint("GET /api/posts", get(lambda n: "/api/posts", cookie), "staged list", 2),
        Endpoint("GET /api/posts/:id", get(each("/api/posts/", every), cookie), "staged post", 3),
        Endpoint(
            "GET /api/public/posts, cold",
            changed("/api/public/posts", change), "live list, changed", 1.3,
        ),
        Endpoint(
            "GET /api/public/posts/:id, cold",
            once("/api/public/posts/", live[WARM:]), "live post", 1.3,
        ),
        Endpoint("GET /api/public/posts, warm", get(lambda n: "/api/public/posts"), "live list", 0.2),
        Endpoint(
            "GET /api/public/posts/:id, warm",
            get(each("/api/public/posts/", live[:WARM])), "live post", 0.4,
        ),
        Endpoint(
            "GET /api/public/posts/:id, 304",
            get(lambda n: f"/api/public/posts/{live[0]}", {"If-None-Match": etag}),
            "live post", 0.2, status=304,
        ),
        Endpoint("GET /blog/:slug, the page, cold", once("", new_pages[::2]), "page", 2),
        Endpoint("GET /blog/:slug, the page, warm", get(each("", warm_pages)), "page", 0.3),
        Endpoint(
            "GET /blog/:slug, as Markdown",
            once("", new_pages[1::2], {"Accept": "text/markdown"}), "Markdown", 2,
        ),
        Endpoint("GET /blog, the list", changed("/blog", change), "list page", 2),
        Endpoint("GET /blog/feed.xml", changed("/blog/feed.xml", change), "feed", 2),
        Endpoint("GET /search", once("/search?q=", ["+".join(pair) for pair in ASKED]), "search page", 3),
    ]  # fmt: skip


def beside_edits(
    found: list[Endpoint], seeded: Seeded, cookie: Mapping[str, str], product: Server
) -> list[Endpoint]:
    """Return the warm endpoints again, with an edit per second of a post that none of them shows alone."""
    edits = partial(each_second, product.port, cookie, seeded.published[WARM])
    return [
        replace(item, name=f"{item.name}, one edit a second", beside=edits)
        for item in found
        if item.name.endswith(", warm")
    ]


def floors(seeded: Seeded, change: Change) -> dict[str, Series]:
    return {
        "staged list": get(lambda n: "/staged"),
        "staged post": get(each("/staged/", seeded.any)),
        "live list": get(lambda n: "/live"),
        "live list, changed": changed("/live", change),
        "live post": get(each("/live/", seeded.published)),
        "page": get(each("/page", seeded.pages)),
        "Markdown": get(each("/markdown", seeded.pages)),
        "list page": changed("/listing", change),
        "feed": changed("/feed", change),
        "search page": get(each("/search/", ["%20".join(pair) for pair in ASKED])),
    }


def each(prefix: str, names: Sequence[str]) -> Callable[[int], str]:
    """Return a function that cycles through the URLs of these names."""
    return lambda number: f"{prefix}{names[number % len(names)]}"


def once(prefix: str, names: Sequence[str], headers: Mapping[str, str] | None = None) -> Series:
    """Return requests for these names, each at most once in the whole run."""
    return get(lambda n: f"{prefix}{names[n]}", headers, is_fresh=True, supply=len(names))


def changed(path: str, change: Change) -> Series:
    """Return requests for a list whose posts have new texts before each request."""
    return get(new_address(lambda number: path), is_fresh=True, change=change)


_numbers: Final = itertools.count()
_orders: Final = itertools.permutations(sorted(LISTED))


def new_address(path: Callable[[int], str]) -> Callable[[int], str]:
    """Add a parameter to each URL that is new to all caches but does not change the response.

    The parameter is a variation that does not run, or all fields of a list in a new order. Content may already be
    rendered for another URL.
    """

    def address(number: int) -> str:
        found = path(number)
        parameter = (
            f"fields={','.join(next(_orders))}"
            if found.startswith("/api/public/posts") and "posts/" not in found
            else f"variation=N{next(_numbers)}"
        )
        return f"{found}{'&' if '?' in found else '?'}{parameter}"

    return address


def require_same(product: Server, floor: Server, seeded: Seeded, cookie: Mapping[str, str]) -> None:
    """Raise `SystemExit` with the first difference unless floor and product give the same responses."""
    live, any_ = seeded.published[0], seeded.any[5]
    for path, bare in (
        ("/api/posts", "/staged"),
        (f"/api/posts/{any_}", f"/staged/{any_}"),
        ("/api/public/posts", "/live"),
        (f"/api/public/posts/{live}", f"/live/{live}"),
    ):
        difference = find_difference(_json(product, path, cookie), _json(floor, bare, {}), "")
        if difference:
            raise SystemExit(f"The floor answers something else than {path}: {difference}")
    # The floor's pages have no template, so compare only the posts they link to.
    for path, bare in (("/blog", "/listing"), ("/blog/feed.xml", "/feed")):
        if _linked(product, path) != _linked(floor, bare):
            raise SystemExit(f"The floor lists other posts than {path}.")


def _linked(server: Server, path: str) -> set[str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=20) as response:
        return set(re.findall(r"/post-\d+", response.read().decode()))


def find_difference(ours: Any, bare: Any, at: str) -> str:
    """Return the place and the values of the first difference; empty if there is none."""
    if isinstance(ours, dict) and isinstance(bare, dict):
        if ours.keys() != bare.keys():
            return f"{at}: {sorted(ours.keys() ^ bare.keys())}"
        found = (find_difference(ours[name], bare[name], f"{at}.{name}") for name in ours)
        return next(filter(None, found), "")
    if isinstance(ours, list) and isinstance(bare, list) and len(ours) == len(bare):
        pairs = zip(ours, bare, strict=True)
        return next(filter(None, (find_difference(*pair, f"{at}[]") for pair in pairs)), "")
    # Times may have milliseconds or microseconds.
    same = ours == bare or (at.endswith(("At", ".at")) and str(ours)[:19] == str(bare)[:19])
    return "" if same else f"{at}: {ours!r} and {bare!r}"


def _json(server: Server, path: str, headers: Mapping[str, str]) -> Any:
    request = urllib.request.Request(  # a server of ours
        f"http://127.0.0.1:{server.port}{path}", headers=dict(headers)
    )
    with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
        return json.load(response)


def etag_of(server: Server, seeded: Seeded) -> str:
    """Return the ETag of the first published post."""
    url = f"http://127.0.0.1:{server.port}/api/public/posts/{seeded.published[0]}"
    with urllib.request.urlopen(url, timeout=20) as response:
        return str(response.headers["ETag"])
