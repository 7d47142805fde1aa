"""All parts of the benchmarks, each in its own process and database, on one PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import capacity, postgres, results
from benchmarks.parts import PARTS
from benchmarks.report import Report, load_report

ROOT: Final = Path(__file__).resolve().parents[1]


def run(options: Sequence[str], *, writes: bool) -> int:
    """Measure all parts one after another. A failed part does not stop the others, but the result is 1."""
    found: dict[str, Report] = {}
    with prepared_server(), tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            print(f"\n## {PARTS[part].title}", flush=True)
            child = start_part(part, options, Path(folder) / part)
            found[part] = finish_part(part, child, Path(folder) / part)
        if writes:
            results.write(found)
            capacity.refresh()
            print(
                f"\nWritten: {results.PATH.relative_to(ROOT)}, {capacity.PAGE.relative_to(ROOT)}."
            )
    failed = [part for part, report in found.items() if report.failures]
    if failed:
        print(f"\nFailed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


@contextmanager
def prepared_server() -> Iterator[None]:
    """Set up the environment of the parts: a server with a migrated database that each part copies."""
    environ = dict(os.environ)
    try:
        with postgres.server() as address:
            os.environ["DATABASE_URL"] = address
            with postgres.database() as template, tempfile.TemporaryDirectory() as folder:
                migrate = [sys.executable, "-c", _MIGRATE, template, folder]
                subprocess.run(migrate, cwd=ROOT, check=True)
                os.environ[postgres.TEMPLATE] = template.rpartition("/")[2]
                yield
    finally:
        os.environ.clear()
        os.environ.update(environ)


_MIGRATE: Final = "import sys; from benchmarks.__main__ import set_up; set_up(*sys.argv[1:])"


def start_part(
    part: str, options: Iterable[str], report: Path, output: int | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks", part, "--report", str(report), *options],
        cwd=ROOT,
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
        text=True,
    )


def finish_part(part: str, child: subprocess.Popen[str], report: Path) -> Report:
    """Return the part's report. A part that crashed has one failure, with the end of its captured output."""
    output_text, _ = child.communicate()
    if report.exists():
        return load_report(report)
    ended = f"{part} ended with {child.returncode} before it had figures."
    return Report(failures=[f"{ended}\n{output_text[-3000:]}" if output_text else ended])
