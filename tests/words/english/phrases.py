"""Phrases to avoid, with what to write instead: `phrases.yaml`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, TypedDict

import yaml

from tests.words.english.texts import Finding, Text

_FILE: Final = Path(__file__).with_name("phrases.yaml")
# Within a phrase: a space, or the end of a line with the marks of a comment.
_SPACE: Final = r"(?:\s|\n\s*(?:#|//|\*|\"\s*\"))+"


class _Table(TypedDict):
    everywhere: dict[str, str]
    messages: list[str]


class Phrases:
    """Finds the phrases of a table in texts, as whole words in any case, also across lines."""

    def __init__(self, instead: dict[str, str]) -> None:
        self._instead = instead
        patterns = (
            _SPACE.join(re.escape(word) for word in phrase.split(" "))
            for phrase in sorted(instead, key=len, reverse=True)
        )
        self._pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])", re.IGNORECASE)

    def find(self, text: Text) -> Iterator[Finding]:
        ends = [match.end() for match in re.finditer("\n", text.text)]
        for match in self._pattern.finditer(text.text):
            phrase = " ".join(re.sub(r"[#/*\"]", " ", match[0]).split())
            better = self._instead[phrase.lower()]
            line = bisect_right(ends, match.start()) + 1
            yield Finding(text.name, line, f"Instead of “{phrase}” write {better}.")


@cache
def everywhere() -> Phrases:
    """Return the phrases that no file may contain."""
    return Phrases(_table()["everywhere"])


@cache
def in_messages() -> Phrases:
    """Return the phrases that no message of the admin may contain, including the ones for every file."""
    table = _table()
    return Phrases({**table["everywhere"], **dict.fromkeys(table["messages"], "it in plain words")})


def _table() -> _Table:
    found: _Table = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return found
