"""How closely a change wants to be read, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from content.changes import Change
from content.document import ModuleDocument
from content.layers.marks import Mark
from content.review.summary import Text, facts

Risk = Literal[1, 2, 3]

_WEIGHTS: Final[dict[str, Risk]] = {
    "conflict": 3,
    "drift": 3,
    "removed": 3,
    "replaced": 3,
    "emptied": 3,
    "price": 3,
    "negation": 3,
    "moved": 1,
    "choice": 1,
}
"""All else that is noticed weighs two."""
_FIELDS: Final = {
    "slug": "address",
    "canonicalUrl": "address",
    "parentId": "address",
    "robotsJson": "robots",
    "jsonldOverrides": "structured-data",
    "publishAt": "schedule",
    "featuredMediaId": "image",
}
_OUTWARD: Final = frozenset(_FIELDS) - {"featuredMediaId"} | {"metaTitle", "metaDescription"}
_MUCH: Final = 40
"""Words of which half must go before a text counts as rewritten."""
MOST_REASONS: Final = 6


def reasons_of(
    change: Change,
    kind: str,
    texts: tuple[Text, Text],
    near: tuple[Text, Text],
    mark: Mark | None,
    *,
    drifted: bool,
    language: str,
) -> list[str]:
    """Why a careful reader looks at a change, the heaviest first. `kind` is that of the field.

    `texts` are before and after, `near` what of them is around the differences; `language` is that of the post.
    """
    found = [*_hands(mark, drifted=drifted), *_structure(change)]
    if not _is_module(change) and change.kind != "moved":
        found += _of_place(change.path, kind)
        # Part of an address: neither its digits nor its words are facts.
        if change.path != "post.slug":
            found += [fact.kind for fact in facts(change.path, *near, language) if fact.is_loud]
        found += _of_length(texts[0].words, texts[1].words)
    heaviest = sorted(dict.fromkeys(found), key=lambda reason: -weight(reason))
    return heaviest[:MOST_REASONS]


def weight(reason: str) -> Risk:
    return _WEIGHTS.get(reason, 2)


def risk_of(reasons: Iterable[str]) -> Risk:
    """The heaviest reason's weight; 1 for a change that nothing speaks against."""
    return max((weight(reason) for reason in reasons), default=1)


def is_outward(path: str) -> bool:
    """Whether a path is what search engines and visitors' bookmarks go by."""
    return path.startswith("post.") and path.removeprefix("post.") in _OUTWARD


def _hands(mark: Mark | None, *, drifted: bool) -> list[str]:
    is_conflict = mark is not None and mark.conflict
    return (["conflict"] if is_conflict else []) + (["drift"] if drifted else [])


def _is_module(change: Change) -> bool:
    return isinstance(change.before, ModuleDocument) or isinstance(change.after, ModuleDocument)


def _structure(change: Change) -> list[str]:
    return [] if change.kind == "changed" else [change.kind]


def _of_place(path: str, kind: str) -> list[str]:
    name = path.removeprefix("post.") if path.startswith("post.") else ""
    if name in _FIELDS:
        return [_FIELDS[name]]
    if kind == "media":
        return ["image"]
    if kind in ("link", "url", "post-reference", "form-reference"):
        return ["link"]
    if kind in ("boolean", "select", "multiselect", "taxonomy-reference", "icon"):
        return ["choice"]
    return ["number"] if kind == "number" else []


def _of_length(before: str, after: str) -> list[str]:
    if not before.strip():
        return []
    if not after.strip():
        return ["emptied"]
    was, now = len(before.split()), len(after.split())
    return ["rewritten"] if was >= _MUCH and now < was / 2 else []
