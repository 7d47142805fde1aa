"""The committed ceilings: how much each figure may grow before the check fails."""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.report import Report

PATH: Final = Path(__file__).with_name("ceilings.toml")
RATIO_FACTOR: Final = 2.0
"""Results of small runs on a busy machine vary by a third. A factor of two is reliable."""
ALLOCATED_SHARE: Final = 0.1
PYTHON: Final = ".".join(platform.python_version_tuple()[:2])
RENEW: Final = "./run bench --ceilings"
_HEAD: Final = f"""\
# Written by `{RENEW}` of a tiny run; docs/development/benchmarks.md says how these are held.
# [ratios] CPU of a request as a multiple of the floor's: fails above {RATIO_FACTOR:g} times as much.
# [statements] SQL of one request: exactly so many.
# [allocated] The most bytes that Python holds for a request, by the version of Python: within {ALLOCATED_SHARE:.0%}.
"""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Ceilings by `part: row`. `allocated` is for this Python version; the file's other versions stay unchanged."""

    ratios: Mapping[str, float] = field(default_factory=dict)
    statements: Mapping[str, float] = field(default_factory=dict)
    allocated: Mapping[str, float] = field(default_factory=dict)

    def find_slow(self, part: str, report: Report) -> Iterator[str]:
        """Yield rows with too high a ratio. Only these can be high by chance."""
        for name, ratio in _named(part, report.ratios).items():
            ceiling = self.ratios.get(name)
            if ceiling is not None and ratio > RATIO_FACTOR * ceiling:
                yield (
                    f"{name}: {ratio:.2f} times the floor, ceiling {ceiling:.2f} "
                    f"(fails above {RATIO_FACTOR * ceiling:.2f})"
                )

    def find_changed(self, part: str, report: Report) -> Iterator[str]:
        """Yield rows with other numbers of statements or bytes, and rows missing on one side."""
        for name, count in _named(part, report.statements).items():
            expected = self.statements.get(name, count)
            if count != expected:
                yield f"{name}: {count} SQL statements instead of {expected}"
        for name, size in _named(part, report.allocated).items():
            wanted = self.allocated.get(name, size)
            if abs(size - wanted) > ALLOCATED_SHARE * wanted:
                yield f"{name}: {size:,} bytes allocated instead of {wanted:,}"
        measured = (report.ratios, report.statements, report.allocated)
        for kind, ours, found in zip(
            ("ratio", "statements", "allocated bytes"),
            (self.ratios, self.statements, self.allocated),
            measured,
            strict=True,
        ):
            known = {name for name in ours if name.startswith(f"{part}: ")}
            # Another version of Python has no sizes until they are written.
            if kind == "allocated bytes" and not self.allocated:
                continue
            for name in sorted(known - _named(part, found).keys()):
                yield f"{name}: {kind} no longer measured"
            for name in sorted(_named(part, found).keys() - known):
                yield f"{name}: {kind} without a ceiling"


def _named(part: str, found: Mapping[str, float]) -> dict[str, float]:
    return {f"{part}: {name}": value for name, value in found.items()}


def load(path: Path = PATH) -> Ceilings:
    if not path.exists():
        return Ceilings()
    data = tomllib.loads(path.read_text())
    allocated = data.get("allocated", {}).get(PYTHON, {})
    return Ceilings(data.get("ratios", {}), data.get("statements", {}), allocated)


def write(found: Mapping[str, Report], path: Path = PATH) -> None:
    """Write the ceilings of the measured parts. Other parts stay unchanged."""
    known = load(path)
    others = tomllib.loads(path.read_text()).get("allocated", {}) if path.exists() else {}

    def merged(old: Mapping[str, float], new: Mapping[str, float]) -> dict[str, float]:
        unchanged = {
            name: value for name, value in old.items() if name.partition(": ")[0] not in found
        }
        return dict(sorted((unchanged | dict(new)).items()))

    ratios: dict[str, float] = {}
    statements: dict[str, float] = {}
    allocated: dict[str, float] = {}
    for part, report in found.items():
        ratios |= {name: round(value, 2) for name, value in _named(part, report.ratios).items()}
        statements |= _named(part, report.statements)
        allocated |= _named(part, report.allocated)
    sections = {
        "ratios": merged(known.ratios, ratios),
        "statements": merged(known.statements, statements),
    }
    others[PYTHON] = merged(known.allocated, allocated)
    sections |= {f'allocated."{name}"': sizes for name, sizes in sorted(others.items())}
    lines = [_HEAD]
    for title, values in sections.items():
        lines.append(f"[{title}]")
        lines += [f'"{name}" = {value}' for name, value in values.items()]
        lines.append("")
    path.write_text("\n".join(lines))
