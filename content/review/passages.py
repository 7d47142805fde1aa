"""Passages: the parts of a changed text or list that are decided on one by one, each with a name of its own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from content.changes import Change, Value
from content.document import PostDocument
from content.review.change_comparison import compare_change, replaces_shared
from content.review.comparison import DIVISIBLE
from content.review.differences import Comparison, canonical_json

_LENGTH: Final = 8


def passage_names(comparison: Comparison, kind: str) -> Mapping[int, str]:
    """The name of each passage by its number; none where there is nothing to choose.

    A name comes from what differs, not from where: it stays when other passages are taken.
    """
    if kind not in DIVISIBLE or len(comparison.passages) < 2:
        return {}
    found: dict[int, str] = {}
    seen: Counter[str] = Counter()
    for number, differences in comparison.by_passage().items():
        said = [one.content for one in differences]
        text = canonical_json(said).encode("utf-8", "surrogatepass")
        name = hashlib.sha256(text).hexdigest()[:_LENGTH]
        seen[name] += 1
        found[number] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return found


def names_of(change: Change, comparison: Comparison, kind: str) -> Mapping[int, str]:
    """The names of the passages of a change; none where it is one decision.

    A value of a post's own, in place of a shared one, is one decision: the shared one may change meanwhile.
    """
    if change.kind != "changed" or replaces_shared(change):
        return {}
    return passage_names(comparison, kind)


def passages_at(change: Change, before: PostDocument, after: PostDocument) -> tuple[str, ...]:
    """The names of the passages of a change."""
    found, kind = compare_change(change, before, after)
    return tuple(names_of(change, found.comparison, kind).values())


def take_passages(
    change: Change, before: PostDocument, after: PostDocument, chosen: Collection[str]
) -> Value:
    """The value of a change with these passages taken and the others left."""
    found, kind = compare_change(change, before, after)
    numbers = {
        number for number, name in passage_names(found.comparison, kind).items() if name in chosen
    }
    return found.part.value(numbers)
