"""One sentence a line, so that a change of a page shows which sentences changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tests.words.english.texts import Finding, Text

_FENCE: Final = ("```", "~~~")
_NOT_PROSE: Final = ("|", "#", "!", "<", ">", ":::")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+(?:\[.\]\s+)?")
_NEW_BLOCK: Final = re.compile(r"^\s*(?:[-*+|#>`~!<]|\d+\.\s|:::)")
_LABEL: Final = re.compile(r"^\*\*.+?\*\*\s*")
"""A label in bold at the beginning of a paragraph, sometimes a sentence."""
_TWO_SENTENCES: Final = re.compile(r"(?<!\b[A-Z])(?<!e\.g)(?<!i\.e)[.!?][)”\"*]* +[A-Z*“]")
_END: Final = re.compile(r"[.!?:;…][)”\"*_`]*$|[\\)”*`]$")


def broken_lines(page: Text) -> Iterator[Finding]:
    """Yield lines with more than one sentence, and sentences on more than one line."""
    fence = ""
    lines = page.text.splitlines()
    for number, (line, following) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        mark = line.strip()[:3]
        if mark in _FENCE and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence and line.strip() and not line.lstrip().startswith(_NOT_PROSE):
            yield from _broken(page.name, number, line, following)


def _broken(name: str, number: int, line: str, following: str) -> Iterator[Finding]:
    prose = re.sub(r"`[^`]*`", "C", line)
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    prose = _LABEL.sub("", _ITEM.sub("", prose))
    if _TWO_SENTENCES.search(prose):
        yield Finding(name, number, "Begin each sentence on a new line.")
    goes_on = following.strip() and not _NEW_BLOCK.match(following)
    if goes_on and not _END.search(line.strip()):
        yield Finding(name, number, "Keep a sentence on one line.")
