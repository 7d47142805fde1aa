"""The risk of a change, used to flag, sort, offer and approve changes.

A change is safe only if every difference is proven harmless (`content.comparison.harmless`). Every other change has
a flag that names what to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from content.comparison.findings import NO_FINDINGS, Findings, is_named_by_fact
from content.document.differences import Comparison, Difference, DifferenceKind
from content.store.layer_state import Attribution

Level = Literal[1, 2, 3]
"""1: safe to approve without opening it. 2: must be looked at. 3: must be looked at first."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Levels of added, removed and changed things, for a published and for an unpublished post."""

    live: tuple[Level, Level, Level]
    draft: tuple[Level, Level, Level]


_LOOK: Final = Weights((2, 2, 2), (2, 2, 2))
_HIGH: Final = Weights((3, 3, 3), (3, 3, 3))
_TABLE: Final[Mapping[DifferenceKind, Weights]] = {
    "text": _LOOK,
    "space": _LOOK,
    "position": _LOOK,
    "link": Weights((2, 2, 3), (2, 2, 2)),
    "embed": Weights((3, 3, 3), (2, 2, 2)),
    "image": _LOOK,
    "reference": _LOOK,
    "mark": _LOOK,
    "code": _LOOK,
    "structure": _LOOK,
    "date": _LOOK,
    "name": _LOOK,
    "choice": _LOOK,
    "boolean": _LOOK,
    "slug": Weights((3, 3, 3), (2, 2, 2)),
    "seo": Weights((3, 3, 3), (2, 2, 2)),
    "structured-data": Weights((3, 3, 3), (2, 2, 2)),
    "module": Weights((2, 3, 3), (2, 3, 3)),
    "new-text": _LOOK,
    "rewording": _LOOK,
    "moved": _LOOK,
    "length": _LOOK,
}
"""Levels by kind. Kinds without an entry are high: the most harmful ones, and new ones."""
_FLAG_OF_KIND: Final[Mapping[DifferenceKind, str]] = {"position": "moved"}
_TEXT_FLAGS: Final = {"new-text", "rewording"}
_NO_LOSS: Final = frozenset({"mark", "characters", "position", "seo"})
_ACTIONS: Final = {"added": 0, "removed": 1, "changed": 2}
_SOME: Final = 2
_MUCH: Final = 5
"""Number of lost words from which text counts as removed. Fewer are enough if they are a third of it."""
_SENTENCE: Final = 12
"""Number of consecutive removed words from which a sentence counts as removed, whatever replaces it."""
FLAGS: Final = (
    "host", "link", "characters", "price", "number", "quantity", "number-word", "opposite", "negation", "modality",
    "ungrounded", "claim", "language", "source-mismatch", "conflict", "drifted", "embed", "slug", "seo",
    "structured-data", "removed", "module", "image", "reference", "date", "name", "choice", "boolean", "length",
    "mark", "code", "structure", "new-text", "rewording", "moved", "edited",
)  # fmt: skip
"""All flags, the most harmful first."""


@dataclass(frozen=True, slots=True)
class Risk:
    """The risk of a change. `flags`: what a reviewer must look at, empty if the change is safe."""

    level: Level
    flags: tuple[str, ...]

    @property
    def is_safe(self) -> bool:
        return self.level == 1

    @property
    def rank(self) -> int:
        """Position of the heaviest flag in `FLAGS`. Lower ranks are reviewed first."""
        return min(map(flag_rank, self.flags), default=len(FLAGS))


def assess(
    comparison: Comparison,
    findings: Findings = NO_FINDINGS,
    *,
    is_live: bool,
    mark: Attribution | None = None,
    is_drifted: bool = False,
) -> Risk:
    """Return the risk of a change in a published or unpublished post.

    Without `findings`, no difference is proven harmless and the change is not safe.
    """
    flags: set[str] = set()
    level: Level = 1
    for number, line in enumerate(comparison.lines):
        for difference in line.differences:
            if number in findings.proven and _is_explained(difference):
                continue
            weight, named = _weigh(difference, is_live=is_live)
            if is_named_by_fact(difference, line):
                named -= _TEXT_FLAGS
            flags |= named
            level = max(level, weight)
    for _, found in findings.found:
        weights = _TABLE.get(found.kind, _HIGH)
        level = max(level, (weights.live if is_live else weights.draft)[_ACTIONS[found.action]])
        # The weights of the text differences already set these flags.
        flags |= {found.kind} - _TEXT_FLAGS
    if comparison.words_before and not comparison.words_after:
        flags.add("removed")
        level = 3
    # Flags for another person or run that changed the same value.
    conflict_flags = ["drifted"] if is_drifted or (mark is not None and mark.drifted) else []
    if mark is not None and mark.conflict:
        conflict_flags.append("conflict")
    if mark is not None and mark.edited_by:
        conflict_flags.append("edited")
    other_flags = set(conflict_flags)
    if other_flags:
        # A person's edit of an agent's text must be looked at, but not first.
        level = 2 if other_flags == {"edited"} and level < 3 else 3
    return Risk(level, order_flags(flags | other_flags))


def order_flags(flags: Iterable[str]) -> tuple[str, ...]:
    """Return the flags, the most harmful first. Unknown flags, of other versions, come last."""
    return tuple(sorted(flags, key=flag_rank))


def flag_rank(flag: str) -> int:
    """Return the position of a flag in `FLAGS`. A lower position is more harmful."""
    return FLAGS.index(flag) if flag in FLAGS else len(FLAGS)


def _is_explained(difference: Difference) -> bool:
    """Return whether the proof of a line covers the difference: words, spaces, and facts derived from its words."""
    return difference.kind in ("text", "space") or (
        difference.is_fact and difference.kind != "characters"
    )


def _weigh(difference: Difference, *, is_live: bool) -> tuple[Level, set[str]]:
    kind, action = difference.kind, difference.action
    # A new module has the default of this option.
    if difference.is_default:
        return 1, set()
    flag = _FLAG_OF_KIND.get(kind, kind)
    sides = [
        side if isinstance(side, str) else "" for side in (difference.before, difference.after)
    ]
    if kind == "text":
        before, after = (
            sum(any(map(str.isalnum, word)) for word in side.split()) for side in sides
        )
        lost = before - after
        # Words were removed and not only replaced.
        if before >= _SENTENCE or lost >= _MUCH or (lost >= _SOME and 3 * after <= 2 * before):
            action = "removed"
        flag = "new-text" if action == "added" and after else "rewording"
        if not before and not after:
            action = "changed"  # only a punctuation mark was added or removed
    elif kind == "space":
        is_inline = not any(side.strip(" ") for side in sides)
        flag = "rewording" if is_inline else "structure"
    weights = _TABLE.get(kind, _HIGH)
    level = (weights.live if is_live else weights.draft)[_ACTIONS[action]]
    flags = {flag}
    if action == "removed" and kind not in _NO_LOSS:
        flags.add("removed")
        if kind == "text" and difference.action == "removed":
            flags.discard("rewording")
    if kind in ("link", "embed", "image") and _host(sides[1]) not in ("", _host(sides[0])):
        flags.add("host")
        level = 3
    # A boolean is a choice between two options.
    return level, flags | ({"choice"} if kind == "boolean" else set())


def _host(address: str) -> str:
    """Return the host of an address in lower case, empty for this site."""
    try:
        return (urlsplit(address.split(" · ")[0].strip()).hostname or "").lower()
    except ValueError:
        # A browser may open an address that the parser rejects, so treat it as a different host.
        return address
