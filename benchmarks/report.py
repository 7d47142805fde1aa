"""What a part of the benchmarks found: text and tables, and the figures that are held against their ceilings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson


@dataclass(slots=True)
class Report:
    """Everything said is printed at once and kept as Markdown.

    `ratios` are multiples of the floor of the same run, `statements` and `allocated` those of one fixed request.
    """

    blocks: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    allocated: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """A paragraph."""
        print(f"\n{text}", flush=True)
        self.blocks.append(text)

    def show_table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """The first column holds words, the others figures."""
        lines = [f"| {' | '.join(columns)} |", "|---" + "|---:" * (len(columns) - 1) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        self.say("\n".join(lines))

    def fail(self, reason: str) -> None:
        """The run goes on, and ends with an error."""
        self.failures.append(reason)

    def save(self, path: Path) -> None:
        path.write_bytes(orjson.dumps(asdict(self)))


def load_report(path: Path) -> Report:
    return Report(**orjson.loads(path.read_bytes()))
