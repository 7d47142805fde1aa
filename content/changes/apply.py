"""Takes changes onto a document."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from content.changes.values import ABSENT, TERMS_PATH, Change, Changes, Value, part_of
from content.document import ModuleDocument, PostDocument
from proofroom.core.json import Json


def apply(base: PostDocument, changes: Changes) -> PostDocument:
    """`base` with the changes.

    Modules that a subset of changes adds or moves stand behind their nearest neighbour.
    """
    fields = dict(base.fields)
    terms = base.taxonomy_term_ids
    modules = {module.id: module for module in base.modules}
    placed: set[str] = set()
    for change in changes:
        if change.path == TERMS_PATH:
            terms = cast("tuple[str, ...]", change.after)
        elif change.module_id is None:
            _put(fields, change.path.removeprefix("post."), change.after)
        else:
            _apply_to_modules(modules, placed, change)
    order = _place([id_ for id_ in base.order if id_ in modules], placed, changes.order)
    return replace(
        base,
        fields=fields,
        taxonomy_term_ids=terms,
        modules=tuple(modules[id_] for id_ in order if id_ in modules),
    )


def _put(target: dict[str, Json], name: str, value: Value) -> None:
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
    elif module_id in modules:
        if rest == ["position"]:
            placed.add(module_id)
            return
        part = dict(part_of(modules[module_id], rest[0]))
        _put(part, rest[1], change.after)
        modules[module_id] = (
            replace(modules[module_id], props=part)
            if rest[0] == "props"
            else replace(modules[module_id], overrides=part)
        )


def _place(present: list[str], placed: set[str], target: tuple[str, ...]) -> list[str]:
    """Put each of `placed` behind the nearest module that precedes it in the target order and is there."""
    order = [id_ for id_ in present if id_ not in placed]
    for index, id_ in enumerate(target):
        if id_ in placed:
            neighbour = next((other for other in reversed(target[:index]) if other in order), None)
            order.insert(order.index(neighbour) + 1 if neighbour else 0, id_)
    return order
