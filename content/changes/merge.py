"""Merges two sides that changed one base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from content.changes.apply import apply
from content.changes.diff import diff
from content.changes.values import ABSENT, Change, Changes, Value, same, value_at
from content.document import ModuleDocument, PostDocument

Verdict: TypeAlias = Literal["take", "same", "conflict"]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A path that both sides changed differently."""

    path: str
    base: Value
    ours: Value
    theirs: Value


@dataclass(frozen=True, slots=True)
class Merged:
    document: PostDocument
    conflicts: tuple[MergeConflict, ...]


def merge(
    base: PostDocument,
    ours: PostDocument,
    theirs: PostDocument,
    *,
    prefer: Literal["ours", "theirs"] = "ours",
) -> Merged:
    """Return what `theirs` changed since `base`, on top of `ours`; conflicts keep the side that is preferred."""
    moves = _judge_order(base, ours, theirs)
    taken: list[Change] = []
    conflicts: list[MergeConflict] = []
    for change in diff(base, theirs):
        verdict = _judge(change, ours, moves)
        if verdict == "conflict":
            conflicts.append(
                MergeConflict(change.path, change.before, value_at(ours, change.path), change.after)
            )
            if prefer == "theirs":
                taken.append(_insist(change, ours, theirs))
        elif verdict == "take":
            taken.append(change)
    unique = {change.path: change for change in taken}
    # What both sides added stands where ours put it, which says nothing of where theirs put the rest.
    both_added = set(ours.order) & set(theirs.order) - set(base.order)
    order = tuple(id_ for id_ in theirs.order if id_ not in both_added)
    document = apply(ours, Changes(tuple(unique.values()), order))
    return Merged(document, tuple(conflicts))


def _judge(change: Change, ours: PostDocument, moves: Verdict) -> Verdict:
    module_id = change.module_id
    if change.kind in ("changed", "moved") and module_id and ours.module(module_id) is None:
        return "conflict"
    if change.kind == "moved":
        return moves
    present = value_at(ours, change.path)
    if same(present, change.after):
        return "same"
    return "take" if same(present, change.before) else "conflict"


def _judge_order(base: PostDocument, ours: PostDocument, theirs: PostDocument) -> Verdict:
    """Two reorderings of the same modules conflict as a whole: half of each is an order that nobody chose."""
    common = set(base.order) & set(ours.order) & set(theirs.order)
    was, here, there = (
        [id_ for id_ in document.order if id_ in common] for document in (base, ours, theirs)
    )
    if here == there:
        return "same"
    return "take" if here == was else "conflict"


def _insist(change: Change, ours: PostDocument, theirs: PostDocument) -> Change:
    """The change as it must be to win over `ours`: edits of a module that is gone bring the whole module back."""
    module_id = change.module_id
    if module_id is None or ours.module(module_id) is not None or change.after is ABSENT:
        return change
    module = cast(ModuleDocument, theirs.module(module_id))
    return Change(f"modules.{module_id}", "added", ABSENT, module)
