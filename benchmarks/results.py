"""`RESULTS.md`: the figures of the last whole run, with its machine and versions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks import postgres
from benchmarks.machine import describe_load, describe_machine
from benchmarks.parts import PARTS
from benchmarks.report import Report

PATH: Final = Path(__file__).with_name("RESULTS.md")
_LIBRARIES: Final = ("django", "granian", "uvicorn", "psycopg", "orjson", "mcp")


def write(found: Mapping[str, Report]) -> None:
    PATH.write_text(render(found))


def render(found: Mapping[str, Report]) -> str:
    """Return the page with a section per part. docs/development/benchmark-method.md describes the comparisons."""
    sections = ["# Results\n\nWritten by `./run bench`; [What the benchmarks compare]"
        "(../docs/development/benchmark-method.md) says what is compared. Ratios are of CPU time, "
        "against the floor of the same run.", describe_run()]  # fmt: skip
    for part, report in found.items():
        failures = [f"**{failure.partition(chr(10))[0]}**" for failure in report.failures]
        sections.append("\n\n".join([f"## {PARTS[part].title}", *failures, *report.blocks]))
    return "\n\n".join(sections) + "\n"


def describe_run() -> str:
    """Return date, commit, machine and versions."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return "\n".join(
        [
            f"- {datetime.now(UTC):%Y-%m-%d}, commit {_commit()}",
            f"- {describe_machine()}; {describe_load()}",
            f"- {libraries}; {postgres.describe()}",
        ]
    )


def _commit() -> str:
    """Return the commit, marked if files have changes."""
    root = PATH.parents[1]

    def git(*arguments: str) -> str:
        process = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
        return process.stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    return f"{commit}, with changes" if git("status", "--porcelain") else commit
