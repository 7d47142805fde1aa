"""Places of comments in a post: paths of fields, and passages that are found again after edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from content.document.document import FIELD_NAMES, PostDocument
from proofroom.core.json import Json
from proofroom.definitions import modules, props_of
from proofroom.definitions.richtext.nodes import to_text

CONTEXT_CHARACTERS: Final = 60
"""Characters before and after a passage that are stored to find it again."""
_SHORT_QUOTE: Final = 25
"""Shorter quotes can stand in a text by chance, so some of their context must match, too."""
_MIN_CONTEXT: Final = 8
_CONTEXT_LENGTHS: Final = (CONTEXT_CHARACTERS, 30, 15)
_MAX_PLACES: Final = 1_000
_MAX_EDITED_PLACES: Final = 50
_LONG_QUOTE: Final = 60
_MIN_SIMILARITY: Final = 0.3
_MAX_COMPARED_WORDS: Final = 300
_MAX_DEPTH: Final = 20


@dataclass(frozen=True, slots=True)
class Anchor:
    """A passage with the text around it. Runs of white space count as one space."""

    quote: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of a field that exists."""

    value: Json


def find_field(document: PostDocument, path: str) -> FieldValue | None:
    """Return the value at a path of changes, or at a place within one; None if the document has no such field."""
    kind, _dot, rest = path.partition(".")
    if kind == "post":
        if rest == "taxonomyTermIds":
            return FieldValue(list(document.taxonomy_term_ids))
        is_known = rest in FIELD_NAMES or rest in document.fields
        return FieldValue(document.fields.get(rest)) if is_known else None
    if kind != "modules" or not rest:
        return None
    module_id, *parts = rest.split(".")
    module = document.module(module_id)
    if module is None:
        return None
    if not parts or parts == ["position"]:
        return FieldValue(None)
    part, *names = parts
    definition = modules.get(module.type)
    values: Mapping[str, Json] = module.props if part == "props" else module.overrides
    if part not in ("props", "overrides") or not names:
        return None
    if names[0] not in values:
        is_declared = definition is not None and names[0] in props_of(definition.Props)
        return FieldValue(None) if is_declared and len(names) == 1 else None
    return _step(values[names[0]], names[1:])


def _step(value: Json, parts: Sequence[str]) -> FieldValue | None:
    for part in parts:
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif (
            isinstance(value, list)
            and part.isascii()
            and part.isdecimal()
            and len(part) < 6
            and int(part) < len(value)
        ):
            value = value[int(part)]
        else:
            return None
    return FieldValue(value)


def text_of(value: Json) -> str:
    """Return the words of a field with single spaces."""
    return collapse(" ".join(_texts(value, _MAX_DEPTH)))


def _texts(value: Json, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        if value.get("type") == "doc":
            yield to_text(value)
        else:
            for item in value.values():
                yield from _texts(item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, depth - 1)


def collapse(text: str) -> str:
    """Return the text with one space for each run of white space."""
    return " ".join(text.split())


def anchor_at(text: str, start: int, end: int) -> Anchor:
    """Return the anchor of a part of a text."""
    return Anchor(
        text[start:end],
        text[max(0, start - CONTEXT_CHARACTERS) : start].strip(),
        text[end : end + CONTEXT_CHARACTERS].strip(),
    )


def find_exact(text: str, anchor: Anchor) -> tuple[int, int] | None:
    """Return start and end of the quoted words: of several places the one with the most similar surroundings."""
    if not anchor.quote:
        return None
    found: tuple[int, int] | None = None
    best = -1
    start = text.find(anchor.quote)
    for _place in range(_MAX_PLACES):
        if start < 0:
            break
        end = start + len(anchor.quote)
        before = text[max(0, start - len(anchor.prefix) - 1) : start].rstrip()
        after = text[end : end + len(anchor.suffix) + 1].lstrip()
        score = _shared_length(before[::-1], anchor.prefix[::-1])
        score += _shared_length(after, anchor.suffix)
        if score > best:
            found, best = (start, end), score
        start = text.find(anchor.quote, start + 1)
    known = len(anchor.prefix) + len(anchor.suffix)
    if len(anchor.quote) < _SHORT_QUOTE and best < min(_MIN_CONTEXT, known):
        return None
    return found


def _shared_length(one: str, other: str) -> int:
    """Return the number of equal characters at the beginning of both."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _pair in takewhile(lambda pair: pair[0] == pair[1], pairs))


def find_edited(text: str, anchor: Anchor) -> tuple[int, int] | None:
    """Return start and end of what now stands between the surroundings of a passage; None if nothing does."""
    if not (anchor.prefix or anchor.suffix):
        # The passage was all of the text.
        is_similar = bool(text) and _similarity(anchor.quote, text) >= _MIN_SIMILARITY
        return (0, len(text)) if is_similar else None
    longest = 2 * len(anchor.quote) + 40
    for length in _CONTEXT_LENGTHS:
        before, after = anchor.prefix[-length:].lstrip(), anchor.suffix[:length].rstrip()
        candidates = []
        for start in _ends_of(text, before):
            # One character more, for the space that surroundings are stored without.
            window = text[start : start + longest + len(after) + 2]
            size = window.find(after) if after else len(text) - start
            if 0 <= size <= longest + 1:
                gap = text[start : start + size]
                begin = start + len(gap) - len(gap.lstrip())
                candidates.append((begin, begin + len(gap.strip())))
        rated = [
            (_similarity(anchor.quote, text[begin:end]), begin, end)
            for begin, end in candidates
            if begin < end
        ]
        if rated:
            ratio, begin, end = max(rated, key=lambda one: one[0])
            if len(anchor.quote) <= _LONG_QUOTE or ratio >= _MIN_SIMILARITY:
                return begin, end
        if candidates:
            return None  # its surroundings are there, without the passage
    return None


def _ends_of(text: str, before: str) -> Iterator[int]:
    if not before:
        yield 0
        return
    start = text.find(before)
    for _place in range(_MAX_EDITED_PLACES):
        if start < 0:
            return
        yield start + len(before)
        start = text.find(before, start + 1)


def _similarity(one: str, other: str) -> float:
    """Return the share of words and pairs of neighbours that both texts have.

    Linear in the length, unlike `difflib`: a field can have many places, and a page many comments.
    """
    first, second = _parts_of(one), _parts_of(other)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _parts_of(text: str) -> Counter[str | tuple[str, str]]:
    words = text.split()[:_MAX_COMPARED_WORDS]
    return Counter([*words, *pairwise(words)])


def locate(texts: Sequence[str], anchor: Anchor) -> Anchor | None:
    """Return the passage as it now stands in one of the texts; None if it was removed from all.

    The same words in any text win over edited words in an earlier one.
    """
    for find in (find_exact, find_edited):
        for text in texts:
            place = find(text, anchor)
            if place is not None:
                return anchor_at(text, *place)
    return None
