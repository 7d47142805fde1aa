"""Diff, apply and merge post documents. Pure functions.

Laws (property-tested):

- `apply(a, diff(a, b)) == b`
- `merge(a, a, b) == b`
- `merge(a, b, a) == b`
- A second merge changes nothing.
- A module added on one side never marks the other modules as changed.
- A change that a merge does not apply is a conflict.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast

from content.document.document import ModuleDocument, PostDocument
from proofroom.core.json import Json

Kind = Literal["changed", "added", "removed", "replaced", "moved"]
TERMS_PATH: Final = "post.taxonomyTermIds"


class _Absent:
    """The value of a prop or module that does not exist, as opposed to null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
Value: TypeAlias = "Json | ModuleDocument | _Absent"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference at one path.

    `before` and `after`: the values of the field or prop; the whole modules if one was added, removed or replaced;
    the 0-based positions if one moved; `ABSENT` where no value exists. `behind`: the id of the module that an added
    or moved module follows, empty for the first.
    """

    path: str
    kind: Kind
    before: Value
    after: Value
    behind: str = ""

    @property
    def module_id(self) -> str | None:
        return self.path.split(".", 2)[1] if self.path.startswith("modules.") else None


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes, with the order of modules after all of them."""

    items: tuple[Change, ...]
    order: tuple[str, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.items)

    def only(self, paths: Collection[str]) -> Changes:
        """Return the changes at these paths. The order of modules stays the same."""
        return replace(self, items=tuple(item for item in self.items if item.path in paths))


def value_at(document: PostDocument, path: str) -> Value:
    """Return the value at a path of a document, or `ABSENT`."""
    if path == TERMS_PATH:
        return document.taxonomy_term_ids
    if path.startswith("post."):
        return document.fields.get(path.removeprefix("post."), ABSENT)
    _, module_id, *rest = path.split(".", 3)
    module = document.module(module_id)
    if module is None or not rest:
        return ABSENT if module is None else module
    if rest == ["position"]:
        return document.order.index(module_id)
    return part_of(module, rest[0]).get(rest[1], ABSENT)


def part_of(module: ModuleDocument, part: str) -> Mapping[str, Json]:
    """Return the module's `props` or its `overrides`."""
    return module.props if part == "props" else module.overrides


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal in JSON (true is not 1, 1 is 1.0), or are equal modules."""
    if one is other:
        return True
    if type(one) is str:  # the most common case
        return one == other
    if isinstance(one, ModuleDocument) and isinstance(other, ModuleDocument):
        return (
            one.identity == other.identity
            and same(one.props, other.props)
            and same(one.overrides, other.overrides)
        )
    # In Python `True == 1`.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def diff(base: PostDocument, other: PostDocument) -> Changes:
    """Return every difference: post fields, then modules in the order of `other`, then removed modules."""
    if base is other:  # a layer without changes is the same object as the layer below
        return Changes(items=(), order=other.order)
    return Changes(
        items=(*_field_changes(base, other), *_module_changes(base, other)), order=other.order
    )


def _field_changes(base: PostDocument, other: PostDocument) -> Iterator[Change]:
    names = dict.fromkeys((*base.fields, *other.fields))
    for name in names:
        before, after = base.fields.get(name, ABSENT), other.fields.get(name, ABSENT)
        if not same(before, after):
            yield Change(f"post.{name}", "changed", before, after)
    if base.taxonomy_term_ids != other.taxonomy_term_ids:
        yield Change(TERMS_PATH, "changed", base.taxonomy_term_ids, other.taxonomy_term_ids)


def _module_changes(base: PostDocument, other: PostDocument) -> Iterator[Change]:
    old = {module.id: module for module in base.modules}
    new = {module.id: module for module in other.modules}
    order = other.order
    moved = _moved_modules(base.order, order)
    positions = {id_: index for index, id_ in enumerate(base.order)}
    for index, module in enumerate(other.modules):
        before = old.get(module.id)
        path = f"modules.{module.id}"
        behind = order[index - 1] if index else ""
        if before is None:
            yield Change(path, "added", ABSENT, module, behind)
            continue
        if before.identity != module.identity:
            yield Change(path, "replaced", before, module)
        # Layers share the objects of modules that they do not change, so identity saves comparing props.
        elif before is not module:
            yield from _part_changes(path, "props", before, module)
            yield from _part_changes(path, "overrides", before, module)
        if module.id in moved:
            yield Change(f"{path}.position", "moved", positions[module.id], index, behind)
    for module in base.modules:
        if module.id not in new:
            yield Change(f"modules.{module.id}", "removed", module, ABSENT)


def _part_changes(
    path: str, part: str, before: ModuleDocument, after: ModuleDocument
) -> Iterator[Change]:
    old, new = part_of(before, part), part_of(after, part)
    for name in dict.fromkeys((*old, *new)):
        was, is_ = old.get(name, ABSENT), new.get(name, ABSENT)
        if not same(was, is_):
            yield Change(f"{path}.{part}.{name}", "changed", was, is_)


def _moved_modules(old: tuple[str, ...], new: tuple[str, ...]) -> set[str]:
    """Return the smallest set of modules whose move turns one order into the other."""
    rank = {id_: index for index, id_ in enumerate(old)}
    common = [id_ for id_ in new if id_ in rank]
    # All modules except a longest increasing subsequence (patience sorting, O(n log n)) have moved.
    tails: list[int] = []
    ends: list[str] = []
    before: dict[str, str | None] = {}
    for id_ in common:
        slot = bisect_left(tails, rank[id_])
        before[id_] = ends[slot - 1] if slot else None
        if slot == len(tails):
            tails.append(rank[id_])
            ends.append(id_)
        else:
            tails[slot], ends[slot] = rank[id_], id_
    stays: set[str] = set()
    last = ends[-1] if ends else None
    while last is not None:
        stays.add(last)
        last = before[last]
    return set(common) - stays


def apply(base: PostDocument, changes: Changes) -> PostDocument:
    """Return `base` with the changes applied.

    If `changes` is a subset, a module that it adds or moves goes after the nearest preceding module that exists.
    """
    fields = dict(base.fields)
    terms = base.taxonomy_term_ids
    modules = {module.id: module for module in base.modules}
    placed: set[str] = set()
    for change in changes:
        if change.path == TERMS_PATH:
            terms = cast("tuple[str, ...]", change.after)
        elif change.module_id is None:
            _set_or_remove(fields, change.path.removeprefix("post."), change.after)
        else:
            _apply_to_modules(modules, placed, change)
    order = _place_modules([id_ for id_ in base.order if id_ in modules], placed, changes.order)
    return replace(
        base,
        fields=fields,
        taxonomy_term_ids=terms,
        modules=tuple(modules[id_] for id_ in order if id_ in modules),
    )


def _set_or_remove(target: dict[str, Json], name: str, value: Value) -> None:
    if value is ABSENT:
        target.pop(name, None)
    else:
        target[name] = cast(Json, value)


def _apply_to_modules(modules: dict[str, ModuleDocument], placed: set[str], change: Change) -> None:
    _, module_id, *rest = change.path.split(".", 3)
    if not rest:
        if change.after is ABSENT:
            modules.pop(module_id, None)
        else:
            if module_id not in modules:
                placed.add(module_id)
            modules[module_id] = cast(ModuleDocument, change.after)
    # A subset of changes can edit a module that it does not add: such a change has no effect.
    elif module_id in modules:
        if rest == ["position"]:
            placed.add(module_id)
            return
        part = dict(part_of(modules[module_id], rest[0]))
        _set_or_remove(part, rest[1], change.after)
        modules[module_id] = (
            replace(modules[module_id], props=part)
            if rest[0] == "props"
            else replace(modules[module_id], overrides=part)
        )


def _place_modules(present: list[str], placed: set[str], target: tuple[str, ...]) -> list[str]:
    """Insert each of `placed` after the nearest existing module that precedes it in `target`."""
    order = [id_ for id_ in present if id_ not in placed]
    for index, id_ in enumerate(target):
        if id_ in placed:
            neighbour = next((other for other in reversed(target[:index]) if other in order), None)
            order.insert(order.index(neighbour) + 1 if neighbour else 0, id_)
    return order


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
    """Return `ours` with the changes from `base` to `theirs`. A conflict gets the value of the preferred side."""
    moves = _order_verdict(base, ours, theirs)
    accepted: list[Change] = []
    conflicts: list[MergeConflict] = []
    for change in diff(base, theirs):
        verdict = _merge_verdict(change, ours, moves)
        if verdict == "conflict":
            conflicts.append(
                MergeConflict(change.path, change.before, value_at(ours, change.path), change.after)
            )
            if prefer == "theirs":
                accepted.append(_override_ours(change, ours, theirs))
        elif verdict == "take":
            accepted.append(change)
    # With `theirs` preferred, each edit of a module that `ours` removed adds the module: add it once.
    unique = {change.path: change for change in accepted}
    # Modules that both sides added stay where `ours` has them. Their order in `theirs` must not place the others.
    both_added = set(ours.order) & set(theirs.order) - set(base.order)
    order = tuple(id_ for id_ in theirs.order if id_ not in both_added)
    document = apply(ours, Changes(tuple(unique.values()), order))
    return Merged(document, tuple(conflicts))


def _merge_verdict(change: Change, ours: PostDocument, moves: Verdict) -> Verdict:
    module_id = change.module_id
    if change.kind in ("changed", "moved") and module_id and ours.module(module_id) is None:
        return "conflict"
    if change.kind == "moved":
        return moves
    present = value_at(ours, change.path)
    if same(present, change.after):
        return "same"
    return "take" if same(present, change.before) else "conflict"


def _order_verdict(base: PostDocument, ours: PostDocument, theirs: PostDocument) -> Verdict:
    """Return the verdict for all moves together: half of each order would be an order that no editor chose."""
    common = set(base.order) & set(ours.order) & set(theirs.order)
    was, here, there = (
        [id_ for id_ in document.order if id_ in common] for document in (base, ours, theirs)
    )
    if here == there:
        return "same"
    return "take" if here == was else "conflict"


def _override_ours(change: Change, ours: PostDocument, theirs: PostDocument) -> Change:
    """Return the change in a form that wins over `ours`. An edit of a removed module restores the whole module."""
    module_id = change.module_id
    if module_id is None or ours.module(module_id) is not None or change.after is ABSENT:
        return change
    module = cast(ModuleDocument, theirs.module(module_id))
    return Change(f"modules.{module_id}", "added", ABSENT, module)
