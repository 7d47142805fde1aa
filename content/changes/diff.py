"""Finds the differences between two documents."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from content.changes.values import ABSENT, TERMS_PATH, Change, Changes, part_of, same
from content.document import ModuleDocument, PostDocument


def diff(base: PostDocument, other: PostDocument) -> Changes:
    """Every difference, post fields first, then module by module in the order of `other`, removed ones last."""
    if base is other:  # a layer with nothing staged is the layer below
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
    moved = _moved(base.order, other.order)
    positions = {id_: index for index, id_ in enumerate(base.order)}
    for index, module in enumerate(other.modules):
        before = old.get(module.id)
        path = f"modules.{module.id}"
        behind = other.order[index - 1] if index else ""
        if before is None:
            yield Change(path, "added", ABSENT, module, behind)
            continue
        if before.identity != module.identity:
            yield Change(path, "replaced", before, module)
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


def _moved(old: tuple[str, ...], new: tuple[str, ...]) -> set[str]:
    """The fewest modules whose moving turns one order into the other: all but a longest increasing run."""
    rank = {id_: index for index, id_ in enumerate(old)}
    common = [id_ for id_ in new if id_ in rank]
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
