"""The check for regressions: every part in tiny size, compared with the committed ceilings."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks import ceilings
from benchmarks.parts import PARTS
from benchmarks.report import Report
from benchmarks.whole_run import finish_part, prepared_server, start_part

TRIES: Final = 3
"""Number of measurements of a row that seems slow. A slow row is slow each time, a disturbed one is not."""
AT_ONCE: Final = 2
"""Number of parts run in parallel. They mostly wait for processes to start, and only CPU time counts."""


def _measured(part: str, folder: Path, *, writes: bool) -> Report:
    """Return the part's figures. If ratios seem slow, measure again and return the lowest.

    For the ceilings, return the higher of two, because a low one by chance would later refuse normal results.
    """
    known, found = ceilings.load(), Report()
    for number in range(2 if writes else TRIES):
        path = folder / f"{part}-{number}"
        begin = time.perf_counter()
        child = start_part(part, ["--tiny"], path, output=subprocess.PIPE)
        again = finish_part(part, child, path)
        print(f"{part}: {time.perf_counter() - begin:.0f} s", flush=True)
        if again.failures:
            return again
        chosen = max if writes else min
        ratios = {
            name: chosen(value, found.ratios.get(name, value))
            for name, value in again.ratios.items()
        }
        found = replace(again, ratios=ratios)
        if writes:
            continue
        slow = list(known.find_slow(part, found))
        if not slow:
            break
        print("\n".join(["Once more:", *slow]), flush=True)
    return found


def check(part: str, *, writes: bool) -> int:
    """Compare one part, or all, with the ceilings, or write the ceilings. Print violations, and return 1 if there
    are any.
    """
    parts = list(PARTS) if part == "all" else [part]
    begin = time.perf_counter()
    # The same on every machine: no Redis, and a fixed hash seed.
    os.environ |= {"REDIS_URL": "", "PYTHONHASHSEED": "0"}
    with (
        prepared_server(),
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        found = dict(
            zip(
                parts,
                pool.map(lambda name: _measured(name, Path(folder), writes=writes), parts),
                strict=True,
            )
        )
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{time.perf_counter() - begin:.0f} s, {spent.ru_utime + spent.ru_stime:.0f} s of CPU, "
        "the database's not included."
    )
    wrong = [failure for report in found.values() for failure in report.failures]
    if writes and not wrong:
        ceilings.write(found)
        print(f"Written: {ceilings.PATH.name}.")
        return 0
    if not writes:
        known = ceilings.load()
        for name, report in found.items():
            if not report.failures:
                wrong += [*known.find_slow(name, report), *known.find_changed(name, report)]
    if wrong:
        lines = "\n".join(wrong)
        print(
            f"\n{lines}\n\nWhere this is meant, {ceilings.RENEW} writes new ceilings.",
            file=sys.stderr,
        )
    return 1 if wrong else 0
