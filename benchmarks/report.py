"""The results of a part: text, tables, and the figures that are compared with the ceilings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson


@dataclass(slots=True)
class Report:
    """A report. Each paragraph is printed immediately and stored as Markdown.

    `ratios`: multiples of the floor in the same run. `statements` and `allocated`: values of one fixed request.
    """

    blocks: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    allocated: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        print(f"\n{text}", flush=True)
        self.blocks.append(text)

    def show_table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table. The first column holds text, the others figures."""
        lines = [f"| {' | '.join(columns)} |", "|---" + "|---:" * (len(columns) - 1) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        self.say("\n".join(lines))

    def fail(self, reason: str) -> None:
        """Record a failure. The run continues, and ends with an error."""
        self.failures.append(reason)

    def save(self, path: Path) -> None:
        path.write_bytes(orjson.dumps(asdict(self)))


def load_report(path: Path) -> Report:
    return Report(**orjson.loads(path.read_bytes()))
