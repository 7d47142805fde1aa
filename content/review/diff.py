"""Word diffs of texts, as segments to be escaped by whoever shows them. Never markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from content.review.alignment import align

SegmentKind = Literal["same", "removed", "inserted"]

# A token keeps the white space before it. Scripts without spaces are compared by character.
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
TOKEN: Final = re.compile(rf"\s*(?:[{_CJK}]|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*|[^\w\s])|\s+")
_FOLDED: Final = 900
_EDGE: Final = 240
"""Of an unchanged stretch longer than `_FOLDED`, so much is shown at each end."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the merged text."""

    kind: SegmentKind
    text: str

    @property
    def is_folded(self) -> bool:
        """Whether it is so long, and unchanged, that its middle is shown on request."""
        return self.kind == "same" and len(self.text) > _FOLDED

    @property
    def head(self) -> str:
        return self.text[:_EDGE].rsplit(" ", 1)[0]

    @property
    def tail(self) -> str:
        return self.text[-_EDGE:].split(" ", 1)[-1]

    @property
    def middle(self) -> str:
        return self.text[len(self.head) : len(self.text) - len(self.tail)]

    @property
    def hidden_words(self) -> int:
        return len(self.middle.split())


def diff_text(before: str, after: str) -> list[Segment]:
    """One text with what was removed and inserted, word by word; equal texts give one `same` segment.

    The `same` and `inserted` segments joined are `after`, the `same` and `removed` ones `before`.
    """
    if before == after:
        return [Segment("same", after)] if after else []
    old, new = (TOKEN.findall(text) for text in (before, after))
    found: list[Segment] = []
    for run in align(old, new):
        if run.is_same:
            found.append(Segment("same", "".join(new[run.new])))
        else:
            found += _changed("".join(old[run.old]), "".join(new[run.new]))
    return found


def _changed(removed: str, inserted: str) -> Iterator[Segment]:
    """A change without the space that both begin with, which would be marked too."""
    space = inserted[: len(inserted) - len(inserted.lstrip())]
    if space and removed.startswith(space) and inserted.strip() and removed.strip():
        yield Segment("same", space)
        removed, inserted = removed[len(space) :], inserted[len(space) :]
    if removed:
        yield Segment("removed", removed)
    if inserted:
        yield Segment("inserted", inserted)
