"""Merges two sides that changed one base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from content.changes.apply import apply
from content.changes.diff import diff
from content.changes.values import ABSENT, Change, Changes, Value, same, value_at
from content.document import ModuleDocument, PostDocument


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that both sides changed differently."""

    path: str
    base: Value
    ours: Value
    theirs: Value


@dataclass(frozen=True, slots=True)
class Merged:
    document: PostDocument
    conflicts: tuple[Conflict, ...]


def merge(
    base: PostDocument,
    ours: PostDocument,
    theirs: PostDocument,
    *,
    prefer: Literal["ours", "theirs"] = "ours",
) -> Merged:
    """What `theirs` changed since `base`, on top of `ours`; conflicts keep the side that is preferred."""
    own = diff(base, ours)
    taken: list[Change] = []
    conflicts: list[Conflict] = []
    for change in diff(base, theirs):
        verdict = _judge(change, ours, theirs, own)
        if verdict == "conflict":
            conflicts.append(
                Conflict(change.path, change.before, value_at(ours, change.path), change.after)
            )
            if prefer == "theirs":
                taken.append(_insist(change, ours, theirs))
        elif verdict == "take":
            taken.append(change)
    unique = {change.path: change for change in taken}
    document = apply(ours, Changes(tuple(unique.values()), theirs.order))
    return Merged(document, tuple(conflicts))


def _judge(
    change: Change, ours: PostDocument, theirs: PostDocument, own: Changes
) -> Literal["take", "same", "conflict"]:
    present = value_at(ours, change.path)
    if change.kind == "moved":
        return _judge_move(change, ours, theirs, own)
    if same(present, change.after):
        return "same"
    if change.kind in ("removed", "replaced"):
        return "take" if same(present, change.before) else "conflict"
    module_id = change.module_id
    if change.kind == "changed" and module_id is not None and ours.module(module_id) is None:
        return "conflict"
    return "take" if same(present, change.before) else "conflict"


def _judge_move(
    change: Change, ours: PostDocument, theirs: PostDocument, own: Changes
) -> Literal["take", "same", "conflict"]:
    module_id = cast(str, change.module_id)
    if ours.module(module_id) is None:
        return "conflict"
    if change.path not in own.paths:
        return "take"
    common = set(ours.order) & set(theirs.order)
    return (
        "same"
        if _neighbour(ours, module_id, common) == _neighbour(theirs, module_id, common)
        else "conflict"
    )


def _neighbour(document: PostDocument, module_id: str, among: set[str]) -> str | None:
    order = [id_ for id_ in document.order if id_ in among]
    index = order.index(module_id)
    return order[index - 1] if index else None


def _insist(change: Change, ours: PostDocument, theirs: PostDocument) -> Change:
    """The change as it must be to win over `ours`: edits of a module that is gone bring the whole module back."""
    module_id = change.module_id
    if module_id is None or ours.module(module_id) is not None or change.after is ABSENT:
        return change
    module = cast(ModuleDocument, theirs.module(module_id))
    return Change(f"modules.{module_id}", "added", ABSENT, module)
