"""What a reviewer must not miss in a changed text: numbers, links, length. In plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from content.richtext.nodes import Node, attributes, children, kind, string

FactKind = Literal["number", "link", "image", "length"]
_NUMBER: Final = re.compile(r"\d+(?:[.,:/]\d+)*\s?%?")
_ADDRESS: Final = re.compile(r"https?://[^\s<>()\"']+")
_LISTED: Final = 4
_NOTICED: Final = 0.1
"""A share of words below which a change of length is not worth a sentence."""
_LIMITS: Final = {"post.metaTitle": 60, "post.metaDescription": 160}
"""Characters that search engines show."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A chip beside a diff. Loud ones are about facts, not style."""

    kind: FactKind
    text: str

    @property
    def is_loud(self) -> bool:
        return self.kind != "length"


@dataclass(frozen=True, slots=True)
class Text:
    """A value as words, with the addresses that its links and images name."""

    words: str
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


def addresses(document: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Every link and every image address of a rich-text document, in reading order."""
    links: list[str] = []
    images: list[str] = []
    waiting: list[Node] = [document] if isinstance(document, dict) else []
    while waiting:
        node = waiting.pop()
        if kind(node) == "image":
            images.append(string(attributes(node).get("src")))
        marks = node.get("marks")
        for mark in marks if isinstance(marks, list) else []:
            if isinstance(mark, dict) and mark.get("type") == "link":
                href = string(attributes(mark).get("href"))
                if not links or links[-1] != href:
                    links.append(href)
        waiting.extend(reversed(children(node)))
    return tuple(links), tuple(images)


def facts(path: str, before: Text, after: Text) -> tuple[Fact, ...]:
    """The chips of a changed text, the loudest first."""
    return (
        *_number_facts(before.words, after.words),
        *_address_facts("link", "Link", _links(before), _links(after)),
        *_address_facts("image", "Image", before.images, after.images),
        *_length_facts(path, before.words, after.words),
    )


def _links(text: Text) -> tuple[str, ...]:
    return text.links + tuple(_ADDRESS.findall(text.words))


def _moved(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[list[str], list[str]]:
    gone, come = Counter(before), Counter(after)
    return list((gone - come).elements()), list((come - gone).elements())


def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text, without those inside addresses."""
    return tuple(found.strip() for found in _NUMBER.findall(_ADDRESS.sub(" ", text)))


def _number_facts(before: str, after: str) -> Iterator[Fact]:
    gone, come = _moved(numbers(before), numbers(after))
    if gone and len(gone) == len(come):
        for old, new in zip(gone[:_LISTED], come[:_LISTED], strict=False):
            yield Fact("number", f"Number changed: {old} → {new}")
        yield from _more("number", len(gone))
        return
    for label, found in (("removed", gone), ("added", come)):
        for number in found[:_LISTED]:
            yield Fact("number", f"Number {label}: {number}")
        yield from _more("number", len(found))


def _address_facts(
    kind_: FactKind, label: str, before: tuple[str, ...], after: tuple[str, ...]
) -> Iterator[Fact]:
    gone, come = _moved(before, after)
    for word, found in (("removed", gone), ("added", come)):
        for address in found[:_LISTED]:
            yield Fact(kind_, f"{label} {word}: {address}")
        yield from _more(kind_, len(found))


def _more(kind_: FactKind, count: int) -> Iterator[Fact]:
    if count > _LISTED:
        yield Fact(kind_, f"and {count - _LISTED} more")


def _length_facts(path: str, before: str, after: str) -> Iterator[Fact]:
    most = _LIMITS.get(path)
    if most is not None:
        over = f", {len(after) - most} more than search results show" if len(after) > most else ""
        yield Fact("length", f"{len(before)} → {len(after)} characters{over}")


def summary(before: Text, after: Text) -> str:
    """One sentence: "Shortened by 30 %, 1 link added, 1 number changed." Empty for nothing to say."""
    parts = [
        part for part in (_length_words(before.words, after.words), *_counts(before, after)) if part
    ]
    text = ", ".join(parts)
    return text[:1].upper() + text[1:] + "." if text else ""


def _length_words(before: str, after: str) -> str:
    if not before.strip():
        return f"new text of {_count(len(after.split()), 'word')}" if after.strip() else ""
    if not after.strip():
        return "all text removed"
    old, new = len(before.split()), len(after.split())
    share = (new - old) / old
    if abs(share) < _NOTICED:
        return "reworded, about the same length" if before.split() != after.split() else ""
    if new >= 2 * old:
        return f"grew from {_count(old, 'word')} to {new}"
    return f"{'lengthened' if share > 0 else 'shortened'} by {round(abs(share) * 100)} %"


def _counts(before: Text, after: Text) -> Iterator[str]:
    for name, old, new in (
        ("link", _links(before), _links(after)),
        ("image", before.images, after.images),
        ("number", numbers(before.words), numbers(after.words)),
    ):
        gone, come = _moved(old, new)
        changed = min(len(gone), len(come))
        for count, word in (
            (changed, "changed"),
            (len(come) - changed, "added"),
            (len(gone) - changed, "removed"),
        ):
            if count:
                yield f"{_count(count, name)} {word}"


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"
