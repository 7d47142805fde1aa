"""Pairs of texts that invert or mislead, and pairs that a proofreader really corrects, in four languages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import yaml

LANGUAGES: Final = ("en", "de", "fr", "es")
_FOLDER: Final = Path(__file__).parent / "safe_changes"


@dataclass(frozen=True, slots=True)
class Pair:
    """A change of a text. `kind` is the flag that an inverting one must have, or what a harmless one corrects."""

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
    pairs = [
        Pair(language, **row)
        for language in LANGUAGES
        for row in yaml.safe_load((_FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    ]
    return [pair for pair in pairs if pair.verdict == verdict]
