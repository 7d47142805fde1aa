"""`./run bench [PART] [--check] [--ceilings] [--write] [--tiny] [--posts N] [--rounds N] [--seconds S] …`.

Without a part, run all parts. A whole run in the default size writes `benchmarks/RESULTS.md`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks import postgres
from benchmarks.parts import APART, PARTS, Run
from benchmarks.redis_server import redis_for_run
from benchmarks.report import Report
from benchmarks.sizes import TINY, Sizes

UNLIMITED: Final = "100000000/hour"
OPTIONS: Final[dict[str, tuple[type[int] | type[float], str]]] = {
    "events": (int, "how many webhooks are sent"),
    "posts": (int, "how many posts to seed"),
    "rounds": (int, "rounds; their median is shown"),
    "seconds": (float, "length of a load"),
    "rows": (int, "views and clicks to report on"),
    "calls": (int, "calls of a tool in a round"),
    "connections": (int, "connections of a load"),
    "workers": (int, "processes of each server"),
    "minutes": (float, "length of the soak"),
    "clients": (int, "clients of the soak"),
    "kills": (int, "processes that are killed in the soak, one after another"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _options()
    options = parser.parse_args(arguments)
    given_sizes = {name: value for name in OPTIONS if (value := getattr(options, name)) is not None}
    if options.check or options.ceilings:
        from benchmarks import watch

        return watch.check(options.part, writes=options.ceilings)
    if options.part == "all":
        from benchmarks import whole_run

        if options.write and options.tiny:
            parser.error("A tiny run shows only that everything runs: it is not written down.")
        usual = not (given_sizes or options.tiny or options.only)
        return whole_run.run(_part_options(options, given_sizes), writes=usual or options.write)
    if options.only and not (PARTS | APART)[options.part].has_only:
        parser.error(f"{options.part} has no --only.")
    if options.write:
        parser.error("Only a whole run is written down, without PART.")
    return _measure(
        options.part, replace(TINY if options.tiny else Sizes(), **given_sizes), options
    )


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("all", *PARTS, *APART), default="all")
    for name, (kind, what) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=kind, help=f"{what}; {getattr(Sizes(), name):,}")
    parser.add_argument(
        "--only",
        default="",
        help="of reading, the endpoints whose name holds this; of analytics, taking or reports",
    )
    parser.add_argument(
        "--tiny", action="store_true", help="only whether it runs, in about a minute"
    )
    parser.add_argument("--check", action="store_true", help="hold a tiny run against the ceilings")
    parser.add_argument("--ceilings", action="store_true", help="write new ceilings")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md of other sizes too")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    return parser


def _part_options(options: argparse.Namespace, given_sizes: dict[str, float]) -> list[str]:
    """Return the options that each part of a whole run receives."""
    sizes = [text for name, value in given_sizes.items() for text in (f"--{name}", str(value))]
    return [*sizes, "--only", options.only, *(["--tiny"] if options.tiny else [])]


def _measure(part: str, sizes: Sizes, options: argparse.Namespace) -> int:
    report, chosen = Report(), (PARTS | APART)[part]
    with (
        redis_for_run() if chosen.has_redis else nullcontext(),
        postgres.database() as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        set_up(url, folder)
        chosen.measure(Run(sizes, options.only, url, Path(folder), report))
    if options.report:
        report.save(options.report)
    for failure in report.failures:
        print(f"\n{failure}", file=sys.stderr)
    return 1 if report.failures else 0


def set_up(url: str, folder: str) -> None:
    """Configure this process and its servers for the benchmark's own database and folder."""
    os.environ |= {
        "DATABASE_URL": url,
        "CMS_DATA_DIR": folder,
        "SECRET_KEY": "benchmark-" * 6,
        "DEBUG": "0",
        "LOCALES": "en,de",
        "DEFAULT_LOCALE": "en",
        "SITE_URL": "http://127.0.0.1",
        # Rate limits are counted as usual, but never reached.
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
    # A copy of the template database is migrated already.
    if not os.environ.get(postgres.TEMPLATE):
        call_command("migrate", verbosity=0)


if __name__ == "__main__":
    sys.exit(main())
