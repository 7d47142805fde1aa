"""Pairs of texts that invert or mislead, and real corrections by proofreaders, in four languages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import yaml

LANGUAGES: Final = ("en", "de", "fr", "es")
_FOLDER: Final = Path(__file__).parent / "safe_changes"


@dataclass(frozen=True, slots=True)
class Pair:
    """A change of a text. `kind`: the expected flag of an inverting change, or the reason of a harmless one."""

    language: str
    before: str
    after: str
    kind: str
    verdict: Literal["inverting", "harmless"]
    note: str = ""

    def __str__(self) -> str:
        return f"{self.language} {self.kind}: {self.before!r} → {self.after!r}"


def read_pairs(verdict: str) -> list[Pair]:
    """Return the pairs of one verdict, of all languages."""
    return [pair for pair in _all_pairs() if pair.verdict == verdict]


@cache
def _all_pairs() -> list[Pair]:
    return [
        Pair(language, **row)
        for language in LANGUAGES
        for row in yaml.safe_load((_FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    ]
