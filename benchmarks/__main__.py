"""`./run bench [PART] [--posts N] [--events N] [--rounds N] [--seconds S] [--only WORDS] [--tiny]`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import postgres
from benchmarks.sizes import TINY, Sizes

if TYPE_CHECKING:
    from benchmarks.seed import Seeded

PLANS_COUNT_FROM = 10_000
"""Posts from which a plan without an index fails the run."""
UNLIMITED = "100000000/hour"
PARTS: Final = (
    "reading", "webhooks", "sitemap", "uploads", "agents", "mcp", "analytics", "admin",
)  # fmt: skip

OPTIONS: Final[dict[str, tuple[type[int] | type[float], str]]] = {
    "events": (int, "how many webhooks are sent"),
    "posts": (int, "how many posts to seed"),
    "rounds": (int, "rounds; their median is shown"),
    "seconds": (float, "length of a load"),
    "rows": (int, "views and clicks to report on"),
    "calls": (int, "calls of a tool in a round"),
    "connections": (int, "connections of a load"),
    "workers": (int, "processes of each server"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    sizes = _sizes(options)
    with postgres.database() as url, tempfile.TemporaryDirectory() as folder:
        _set_up(url, folder)
        if options.part == "sitemap":
            return _sitemap(url, sizes)
        if options.part == "uploads":
            return _uploads(sizes)
        if options.part == "agents":
            return _agents(sizes.rounds)
        if options.part == "mcp":
            return _mcp(sizes)
        if options.part == "analytics":
            return _analytics(sizes, options.only, url)
        if options.part == "admin":
            return _admin(sizes)
        bad = [] if options.part == "webhooks" else _reading(sizes, options.only, url, Path(folder))
        if options.part != "reading":
            _webhooks(sizes)
    if sizes.posts < PLANS_COUNT_FROM:
        return 0  # on a small table reading all of it is the right plan
    if bad:
        print(f"\nNot by an index: {', '.join(bad)}.", file=sys.stderr)
    return 1 if bad else 0


def _sizes(options: argparse.Namespace) -> Sizes:
    """What was asked for, and the rest as it is by default."""
    asked = {name: getattr(options, name) for name in OPTIONS}
    given = {name: value for name, value in asked.items() if value is not None}
    return replace(TINY if options.tiny else Sizes(), **given)


def _reading(sizes: Sizes, only: str, url: str, folder: Path) -> list[str]:
    seeded = _seeded(sizes.posts)
    bad = _plans(seeded)
    _measure(seeded, sizes, only, url, folder)
    _approve(seeded)
    _search()
    return bad


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("all", *PARTS), default="all")
    for name, (kind, what) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=kind, help=f"{what}; {getattr(Sizes(), name):,}")
    parser.add_argument("--only", default="", help="endpoints whose name holds this")
    parser.add_argument("--tiny", action="store_true", help="only whether it runs, in seconds")
    return parser


def _set_up(url: str, folder: str) -> None:
    """This process and the servers it starts run on the benchmark's own database and folder."""
    os.environ |= {
        "DATABASE_URL": url,
        "CMS_DATA_DIR": folder,
        "SECRET_KEY": "benchmark-" * 6,
        "DEBUG": "0",
        "LOCALES": "en,de",
        "DEFAULT_LOCALE": "en",
        "SITE_URL": "http://127.0.0.1",
        # Limits count as ever, and are never reached.
        "THROTTLE_USER": UNLIMITED,
        "THROTTLE_ANON": UNLIMITED,
        "THROTTLE_PUBLIC": UNLIMITED,
        "THROTTLE_EVENTS": UNLIMITED,
        "THROTTLE_MCP": UNLIMITED,
        "THROTTLE_MCP_TOOL": UNLIMITED,
        "THROTTLE_ALLOW_IPS": "",
        "TRUSTED_PROXIES": "0",
        "AGENT_SECRET": "benchmark-" * 4,
        "OUTGOING_ALLOWED_HOSTS": "127.0.0.1",
        "DJANGO_SETTINGS_MODULE": "cms_project.settings",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _seeded(posts: int) -> Seeded:
    from benchmarks import seed

    begin = time.perf_counter()
    seeded = seed.seed(posts)
    print(f"Seeded {posts:,} posts in {time.perf_counter() - begin:.0f} s.")
    return seeded


def _plans(seeded: Seeded) -> list[str]:
    from benchmarks import plans
    from content.models import Post

    return plans.check(Post.objects.get(pk=seeded.published[0]))


def _measure(seeded: Seeded, sizes: Sizes, only: str, url: str, folder: Path) -> None:
    from benchmarks import endpoints, measuring, servers, sessions

    cookie = sessions.cookie_of(seeded.editor_id)
    environ = {"FLOOR_DATABASE": url, "FLOOR_SCHEMAS": str(sessions.schemas(folder))}
    with (
        servers.product({}, sizes.workers) as product,
        servers.floor(environ, sizes.workers) as floor,
    ):
        endpoints.require_same(product, floor, seeded, cookie)
        chosen = [
            item for item in endpoints.endpoints(seeded, cookie, product) if only in item.name
        ]
        rounds = measuring.Rounds(
            sizes.rounds, sizes.seconds, sizes.connections, sizes.warm_seconds
        )
        found = rounds.measure(chosen, endpoints.floors(seeded), product, floor)
    cache = "Redis" if os.environ.get("REDIS_URL") else "memory of each process"
    print(
        f"\n{measuring.machine()}; {sizes.workers} workers each, {sizes.connections} "
        f"connections, {sizes.rounds} rounds of {sizes.seconds:g} s; cache: {cache}."
    )
    measuring.show(chosen, found)


def _approve(seeded: Seeded) -> None:
    from benchmarks import approve

    milliseconds, statements = approve.measure(seeded.published, seeded.editor_id)
    print(
        f"\nApproving {approve.PATHS} paths of one post: {milliseconds:.0f} ms, "
        f"{statements} SQL statements."
    )


def _search() -> None:
    from benchmarks import searching

    print("\nSearch, a page of twenty and the count, against icontains over the same words:")
    for found in searching.measure():
        print(
            f"{found.question} ({found.posts:,} found): {found.milliseconds:.1f} ms, icontains "
            f"{found.without:.1f} ms, {found.ratio:.1f} times as long."
        )


def _sitemap(url: str, sizes: Sizes) -> int:
    from benchmarks import measuring, sitemap

    print(f"{measuring.machine()}.")
    sitemap.show(sitemap.measure(url, sizes.sitemap))
    print("\n".join(sitemap.plan()))
    return 0


def _uploads(sizes: Sizes) -> int:
    from benchmarks import measuring, uploads

    print(f"\n{measuring.machine()}; files on this disk, {sizes.rounds} rounds.")
    uploads.show(uploads.measure(sizes.photos, sizes.rounds))
    return 0


def _agents(rounds: int) -> int:
    from django.conf import settings

    from benchmarks import agent_runs, measuring, servers

    with servers.model() as model:
        url = f"http://127.0.0.1:{model.port}/v1"
        values = {"ai_provider_openai_base_url": url, "ai_provider_openai_api_key": "none"}
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)
        found = agent_runs.measure(rounds, url)
    print(f"\n{measuring.machine()}; {rounds} rounds.")
    agent_runs.show(found)
    return 0


def _mcp(sizes: Sizes) -> int:
    import asyncio

    from benchmarks import mcp, mcp_tokens, measuring, servers

    seeded = _seeded(sizes.posts)
    with servers.mcp(mcp.CREDENTIALS) as product, servers.mcp_floor() as floor:
        found = mcp.measure(seeded.published[0], product, floor, sizes.rounds, sizes.calls)
        print(f"\n{measuring.machine()}; {sizes.rounds} rounds of {sizes.calls} calls.")
        mcp.show(found)
        count, shown = asyncio.run(mcp.listed(product))
        for count_open, kib, seconds in mcp.sessions(product, sizes.mcp_sessions):
            print(
                f"{count_open} SSE sessions open: {kib:.0f} KiB each; "
                f"{seconds:.1f} s until the last {sizes.mcp_sessions} were answered."
            )
    tokens, how = mcp_tokens.count(shown)
    print(f"tools/list: {count} tools, {len(shown.encode()):,} bytes, {tokens:,} tokens ({how}).")
    return 0


def _admin(sizes: Sizes) -> int:
    from benchmarks import admin_pages, measuring

    seeded = _seeded(sizes.posts)
    found = admin_pages.measure(seeded.published, seeded.editor_id, sizes)
    print(f"\n{measuring.machine()}; {sizes.rounds} rounds.")
    admin_pages.show(found)
    return 0


def _analytics(sizes: Sizes, only: str, url: str) -> int:
    from benchmarks import analytics, measuring

    _seeded(sizes.analytics_posts)
    print(f"\n{measuring.machine()}; {sizes.rounds} rounds of {sizes.seconds:g} s.")
    analytics.measure(url, sizes, only)
    return 0


def _webhooks(sizes: Sizes) -> None:
    from benchmarks import measuring, webhooks

    queue = "Redis" if os.environ.get("REDIS_URL") else "files"
    print(f"\n{measuring.machine()}; queue: {queue}.")
    webhooks.measure(sizes.events)


if __name__ == "__main__":
    sys.exit(main())
