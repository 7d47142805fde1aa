"""The parts of the benchmarks, by their names for `./run bench`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import servers
from benchmarks.machine import describe_machine
from benchmarks.report import Report
from benchmarks.sizes import Sizes

if TYPE_CHECKING:
    from benchmarks.seed import Seeded

PLANS_COUNT_FROM: Final = 10_000
"""Posts from which a plan without an index is a failure. For a small table, a sequential scan is right."""


KEPT: Final = Path(os.environ.get("CMS_DATA_DIR") or Path(__file__).resolve().parents[1] / "var")
"""The data folder of the site, which keeps packages installed for the benchmarks."""


@dataclass(frozen=True, slots=True)
class Run:
    """The environment of a part: a migrated database of its own at `url`, and a folder."""

    sizes: Sizes
    only: str
    url: str
    folder: Path
    report: Report

    def seed(self, posts: int) -> Seeded:
        from benchmarks import seed

        return seed.seed(posts)

    def say_rounds(self, what: str) -> None:
        """Print the line above the figures."""
        cache = "Redis" if os.environ.get("REDIS_URL") else "no Redis"
        self.report.say(f"{describe_machine()}; {cache}; {what}.")


def _reading(run: Run) -> None:
    from benchmarks import endpoints, measuring, plans, sessions
    from benchmarks.list_changes import list_changes
    from content.models import Post

    sizes = run.sizes
    seeded = run.seed(sizes.posts)
    bad = plans.check(Post.objects.get(pk=seeded.published[0]))
    if bad and sizes.posts >= PLANS_COUNT_FROM:
        run.report.fail(f"Not by an index: {', '.join(bad)}.")
    cookie = sessions.cookie_of(seeded.editor_id)
    environ = {"FLOOR_DATABASE": run.url, "FLOOR_SCHEMAS": str(sessions.schemas(run.folder))}
    with (
        servers.product({}, sizes.workers) as product,
        servers.floor(environ, sizes.workers) as floor,
        list_changes(run.url, seeded.published[: endpoints.WARM]) as change,
    ):
        endpoints.require_same(product, floor, seeded, cookie)
        etag = endpoints.etag_of(product, seeded)
        chosen = endpoints.endpoints(seeded, cookie, etag, change)
        if sizes.has_slow_rows:
            chosen += endpoints.beside_edits(chosen, seeded, cookie, product)
        named = [item for item in chosen if run.only in item.name]
        if not named:
            names = ", ".join(item.name for item in chosen)
            run.report.fail(f"No endpoint has {run.only!r} in its name. There are: {names}.")
            return
        chosen = named
        rounds = measuring.Rounds(
            sizes.rounds, sizes.seconds, sizes.connections, sizes.warm_seconds, sizes.least_requests
        )
        found = rounds.measure(chosen, endpoints.floors(seeded, change), product, floor)
    run.say_rounds(
        f"{sizes.posts:,} posts, {sizes.workers} workers each, {sizes.connections} connections, "
        f"{sizes.rounds} rounds of {sizes.seconds:g} s"
    )
    measuring.show(chosen, found, run.report)


def _delivery(run: Run) -> None:
    from benchmarks import delivery, measuring, sessions
    from benchmarks.list_changes import list_changes

    sizes = run.sizes
    seeded = run.seed(min(sizes.posts, sizes.delivered_posts))
    delivery.add_relations(seeded)
    environ = {"FLOOR_DATABASE": run.url, "FLOOR_SCHEMAS": str(sessions.schemas(run.folder))}
    with (
        servers.product({"THROTTLE_PUBLIC": "600/minute"}, sizes.workers) as product,
        servers.floor(environ, sizes.workers) as floor,
    ):
        delivery.require_same(product, floor)
        delivery.build_site(product, run.report, len(seeded.published))
    with (
        servers.product({}, sizes.workers) as product,
        servers.floor(environ, sizes.workers) as floor,
        list_changes(run.url, []) as change,
    ):
        rounds = measuring.Rounds(
            sizes.rounds, sizes.seconds, sizes.connections, sizes.warm_seconds, sizes.least_requests
        )
        chosen = delivery.endpoints(change)
        found = rounds.measure(chosen, delivery.floors(change), product, floor)
    run.say_rounds(f"{sizes.delivered_posts:,} posts, {sizes.rounds} rounds of {sizes.seconds:g} s")
    measuring.show(chosen, found, run.report)


def _webhooks(run: Run) -> None:
    from benchmarks import webhooks

    run.say_rounds("one run")
    webhooks.measure(run.sizes.events, run.report, beside_a_hung_one=run.sizes.has_slow_rows)


def _sitemap(run: Run) -> None:
    from benchmarks import sitemap

    run.say_rounds(f"medians of {sitemap.TIMES}")
    sizes = [count for count in run.sizes.sitemap if count <= 10 * run.sizes.posts]
    sitemap.show(sitemap.measure(run.url, sizes), run.report)
    print("\n".join(sitemap.plan()))


def _uploads(run: Run) -> None:
    from benchmarks import uploads

    run.say_rounds(f"files on this disk, {run.sizes.rounds} rounds")
    uploads.show(uploads.measure(run.sizes.photos, run.sizes.rounds), run.report)


def _agents(run: Run) -> None:
    from django.conf import settings

    from benchmarks import agent_runs

    with servers.model() as model:
        url = f"http://127.0.0.1:{model.port}/v1"
        values = {"ai_provider_openai_base_url": url, "ai_provider_openai_api_key": "none"}
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)
        found = agent_runs.measure(run.sizes.rounds, url)
    run.say_rounds(f"{run.sizes.rounds} rounds")
    agent_runs.show(found, run.report)


def _mcp(run: Run) -> None:
    from benchmarks import mcp, mcp_tokens

    sizes = run.sizes
    seeded = run.seed(sizes.posts)
    with servers.mcp(mcp.CREDENTIALS) as product, servers.mcp_floor() as floor:
        found = mcp.measure(seeded.published, product, floor, sizes.rounds, sizes.calls)
        run.say_rounds(f"{sizes.posts:,} posts, {sizes.rounds} rounds of {sizes.calls} calls")
        mcp.show(found, run.report)
        count, shown = asyncio.run(mcp.listed(product))
        for count_open, kib, seconds in mcp.sessions(product, sizes.mcp_sessions):
            run.report.say(
                f"{count_open} SSE sessions open: {kib:.0f} KiB each; "
                f"{seconds:.1f} s until the last {sizes.mcp_sessions} were answered."
            )
    tokens, how = mcp_tokens.count(shown)
    run.report.say(
        f"tools/list: {count} tools, {len(shown.encode()):,} bytes, {tokens:,} tokens ({how})."
    )


def _analytics(run: Run) -> None:
    from benchmarks import analytics

    run.seed(run.sizes.analytics_posts)
    run.say_rounds(f"{run.sizes.rounds} rounds of {run.sizes.seconds:g} s")
    analytics.measure(run.url, run.sizes, run.only, run.report)


def _admin(run: Run) -> None:
    from benchmarks import admin_pages

    seeded = run.seed(min(run.sizes.posts, run.sizes.admin_posts))
    found = admin_pages.measure(seeded.published, seeded.editor_id, run.sizes)
    run.say_rounds(f"{run.sizes.admin_posts:,} posts, {run.sizes.rounds} rounds")
    admin_pages.show(found, run.report)


def _writing(run: Run) -> None:
    from benchmarks import measuring, sessions, writes
    from benchmarks.edits import csrf_headers
    from benchmarks.endpoints import Endpoint

    sizes = run.sizes
    seeded = run.seed(min(sizes.posts, sizes.admin_posts))
    with servers.receiver() as receiver:
        rows = writes.measure(
            run.url, seeded.published, seeded.editor_id, receiver, sizes.write_rounds
        )
    headers = csrf_headers(sessions.cookie_of(seeded.editor_id))
    create = writes.creations("/api/posts", headers)
    environ = {"FLOOR_DATABASE": run.url, "FLOOR_SCHEMAS": str(sessions.schemas(run.folder))}
    chosen = [Endpoint("POST /api/posts, 5 modules", create, "create", None, status=201)]
    with (
        servers.product({}, sizes.workers) as product,
        servers.floor(environ, sizes.workers) as floor,
    ):
        rounds = measuring.Rounds(
            sizes.rounds, sizes.seconds, sizes.connections, sizes.warm_seconds, sizes.least_requests
        )
        bare = {"create": writes.creations("/create", {})}
        found = rounds.measure(chosen, bare, product, floor)
    run.say_rounds(f"{sizes.write_rounds} rounds; creations {sizes.rounds} of {sizes.seconds:g} s")
    measuring.show(chosen, found, run.report)
    writes.show(rows, run.report)


def _requests(run: Run) -> None:
    from benchmarks import fixed_requests
    from benchmarks.list_changes import list_changes

    run.say_rounds("one request at a time, in one process")
    seeded = run.seed(min(run.sizes.posts, run.sizes.fixed_posts))
    with list_changes(run.url, seeded.published[:1]) as change:
        fixed_requests.measure(seeded, run.report, change)


def _processes(run: Run) -> None:
    from benchmarks import processes

    rounds = min(3, run.sizes.rounds)
    found = processes.measure(rounds, whole=run.sizes.has_slow_rows)
    run.say_rounds(f"{rounds} rounds")
    processes.show(found, run.report)


def _search(run: Run) -> None:
    from benchmarks import copies, searching

    run.seed(run.sizes.posts)
    run.say_rounds(f"{run.sizes.posts:,} posts, medians of {searching.TIMES}")
    found = searching.measure(run.url)
    if run.sizes.has_slow_rows:
        copies.multiply(run.url, max(searching.MANY, 2 * run.sizes.posts))
        found += searching.measure(run.url, only_common=True)
    searching.show(found, run.report)


def _peers(run: Run) -> None:
    from benchmarks import sessions
    from benchmarks.peers import comparison

    sizes = run.sizes
    seeded = run.seed(min(sizes.posts, 2 * comparison.MAX_POSTS))
    environ = {"FLOOR_DATABASE": run.url, "FLOOR_SCHEMAS": str(sessions.schemas(run.folder))}
    run.say_rounds(f"{sizes.rounds} rounds of {sizes.seconds:g} s, {sizes.connections} connections")
    comparison.measure(run.url, seeded, environ, sizes, KEPT / "peers", run.report)


def _scale(run: Run) -> None:
    from django.db import connections

    from benchmarks import copies, postgres, scale, sessions

    sizes = run.sizes
    few = run.seed(min(sizes.posts, sizes.few_posts))
    cookie = sessions.cookie_of(few.editor_id)
    connections.close_all()
    with postgres.copy_of(run.url, "many") as many_url:
        copies.multiply(many_url, sizes.many_posts)
        with (
            servers.product({"DATABASE_URL": many_url}, 1) as many_site,
            servers.product({}, 1) as few_site,
        ):
            many = copies.published(many_url, few.published)
            found = scale.reads(few, many, cookie, sizes.deep_page)
            scale.measure(found, many_site, few_site, sizes.rounds, sizes.seconds)
    run.say_rounds(
        f"{sizes.many_posts:,} posts beside {len(few.any):,}, one process and one connection each, "
        f"{sizes.rounds} rounds of {sizes.seconds:g} s"
    )
    scale.show(found, run.report)


def _soak(run: Run) -> None:
    from benchmarks import soak

    seeded = run.seed(min(run.sizes.posts, run.sizes.soak_posts))
    run.say_rounds(soak.describe(run.sizes))
    soak.measure(seeded, run.sizes, run.folder, run.report)


@dataclass(frozen=True, slots=True)
class Part:
    title: str
    measure: Callable[[Run], None]
    has_redis: bool = False
    """True if it starts a Redis without `REDIS_URL`."""
    has_only: bool = False
    """True if `--only` can select a subset."""


PARTS: Final = {
    "reading": Part("Reading", _reading, has_only=True),
    "delivery": Part("Delivery of related things and of a whole site", _delivery),
    "writing": Part("Writing", _writing),
    "requests": Part("Statements and memory of single requests", _requests),
    "search": Part("Search", _search),
    "scale": Part("Few posts and many", _scale),
    "webhooks": Part("Webhooks", _webhooks),
    "sitemap": Part("Sitemap", _sitemap),
    "uploads": Part("Uploads", _uploads),
    "agents": Part("Runs of agents", _agents),
    "mcp": Part("MCP server", _mcp),
    "analytics": Part("Analytics", _analytics, has_only=True),
    "processes": Part("Processes", _processes),
    "admin": Part("Admin", _admin),
}
APART: Final = {
    "peers": Part("Other systems", _peers),
    "soak": Part("Soak", _soak, has_redis=True),
}
"""Parts that install something or take long. They run only if named."""
