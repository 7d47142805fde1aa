"""The product and other systems with the same posts, each loaded by the same client, next to the floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks import endpoints, measuring, servers
from benchmarks.endpoints import Endpoint
from benchmarks.list_changes import list_changes
from benchmarks.measuring import Measured, Rounds
from benchmarks.peers import directus, wagtail
from benchmarks.peers.environments import Unavailable
from benchmarks.report import Report
from benchmarks.seed import Seeded
from benchmarks.servers import Server
from benchmarks.sizes import Sizes

MAX_POSTS: Final = 1000
"""Largest number of posts for peers, which create them one by one."""
_OURS: Final = (
    "GET /api/public/posts, cold",
    "GET /api/public/posts, warm",
    "GET /api/public/posts/:id, cold",
    "GET /api/public/posts/:id, warm",
    "GET /blog/:slug, the page, cold",
    "GET /blog/:slug, the page, warm",
)


def measure(
    url: str, seeded: Seeded, environ: Mapping[str, str], sizes: Sizes, folder: Path, report: Report
) -> None:
    """Measure the product and the peers. A peer that cannot be installed leaves a sentence in the report."""
    rounds = Rounds(
        sizes.rounds, sizes.seconds, sizes.connections, sizes.warm_seconds, sizes.least_requests
    )
    chosen: list[Endpoint] = []
    found: dict[str, Measured] = {}

    def load(items: Sequence[Endpoint], server: Server, floor: Server) -> None:
        """Measure these endpoints. The floor is measured again next to each system, so that ratios are of the same
        minutes.
        """
        floors = endpoints.floors(seeded, change)
        names = {item.floor: f"{item.floor}, beside {server.name}" for item in items}
        renamed = [replace(item, floor=names[item.floor]) for item in items]
        bare = {names[name]: floors[name] for name in names}
        found.update(rounds.measure(renamed, bare, server, floor))
        chosen.extend(renamed)

    with (
        servers.floor(environ, sizes.workers) as floor,
        list_changes(url, seeded.published[: endpoints.WARM]) as change,
    ):
        with servers.product({}, sizes.workers) as product:
            etag = endpoints.etag_of(product, seeded)
            ours = endpoints.endpoints(seeded, {}, etag, change)
            load([item for item in ours if item.name in _OURS], product, floor)
        posts = min(len(seeded.any), MAX_POSTS)
        try:
            python = wagtail.install(folder / "wagtail")
            report.say(f"{wagtail.versions(python)}, {posts:,} pages.")
            with wagtail.serve(python, url, posts, sizes.workers) as (server, items):
                load(items, server, floor)
        except Unavailable as error:
            report.say(str(error))
        try:
            packages = directus.install(folder / "directus")
            report.say(f"Directus {directus.VERSION} on Node, {posts:,} items.")
            with directus.serve(packages, url, posts, sizes.workers) as (server, items):
                load(items, server, floor)
        except Unavailable as error:
            report.say(str(error))
    measuring.show(chosen, found, report)
