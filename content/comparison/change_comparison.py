"""The comparison of a staged change, and its passages: parts that a reviewer decides one by one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from content.comparison.comparison import (
    DIVISIBLE,
    Compared,
    ValueShape,
    compare_labelled,
    compare_modules,
)
from content.comparison.merge_tree import MergePart
from content.document.changes import ABSENT, TERMS_PATH, Change, Value, value_at
from content.document.differences import Comparison, Difference, DiffLine, canonical_json
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.labels import raw_module_names
from content.document.post_fields import POST_FIELDS
from content.models import ModuleInstance
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, post_types, props_of

SharedProps: TypeAlias = Mapping[str, Mapping[str, Json]]
_OVERRIDES: Final = ".overrides."
_NO_SHARED_PROPS: Final[SharedProps] = {}
_NAME_LENGTH: Final = 8


def compare_change(
    change: Change,
    before: PostDocument,
    after: PostDocument,
    shared: SharedProps = _NO_SHARED_PROPS,
) -> tuple[Compared, str]:
    """Return the differences in a change between two documents, and the kind of its field.

    `shared`: props of global modules by instance id, which documents do not contain.
    """
    if change.kind == "moved":
        old_place, new_place = (
            f"{int(position) + 1} / {len(document.order)}"
            for position, document in ((change.before, before), (change.after, after))
            if isinstance(position, int)
        )
        moved = f"{new_place} ({_position_text(change.behind, after)})"
        difference = Difference("position", (), old_place, moved, passage=1)
        of_place = Comparison((DiffLine((), "", "changed", (), (difference,)),))
        return Compared(of_place, MergePart(change.before, change.after)), "position"
    if isinstance(change.before, ModuleDocument) or isinstance(change.after, ModuleDocument):
        sides = (
            merge_shared(side, shared) if isinstance(side, ModuleDocument) else None
            for side in (change.before, change.after)
        )
        of_module = compare_modules(*sides, language=after.locale)
        if change.kind == "added":
            difference = Difference(
                "position", (), None, _position_text(change.behind, after), passage=1
            )
            line = DiffLine((), "", "inserted", (), (difference,))
            of_module = replace(of_module, lines=(*of_module.lines, line))
        return Compared(of_module, MergePart(change.before, change.after)), "module"
    # A removed module exists in `before` only.
    is_there = change.module_id is None or after.module(change.module_id) is not None
    shape = shape_at(change.path, after if is_there else before)
    old = effective_value(change, change.before, before, shared)
    new = effective_value(change, change.after, after, shared)
    found = compare_labelled(old, new, shape, language=after.locale)
    if replaces_shared(change):
        # An override appears or disappears. Report it even if its value equals the shared one.
        own, of_all = "a value of this post's own", "the shared value"
        sides_named = (of_all, own) if change.before is ABSENT else (own, of_all)
        difference = Difference("structure", (), *sides_named, passage=1)
        line = DiffLine((), "", "changed", (), (difference,))
        lines = (*found.comparison.lines, line)
        found = replace(found, comparison=replace(found.comparison, lines=lines))
    return found, shape.kind


def kind_at(path: str, document: PostDocument) -> tuple[str, type[ModuleProps] | None]:
    """Return the field kind at a path and the class of its nested objects. "json" without a definition."""
    if path == TERMS_PATH:
        return "taxonomy-reference", None
    if path.startswith("post."):
        name = path.removeprefix("post.")
        if not name.startswith(CUSTOM_PREFIX):
            declared = POST_FIELDS.get(name)
            return declared.kind if declared else "text", None
        owner = post_types.get(document.type)
        return _kind_of(owner.CustomFields if owner else None, name.removeprefix(CUSTOM_PREFIX))
    _, module_id, *rest = path.split(".", 3)
    module = document.module(module_id)
    definition = modules.get(module.type) if module else None
    return _kind_of(definition.Props if definition else None, rest[-1] if rest else "")


def shape_at(path: str, document: PostDocument) -> ValueShape:
    """Return how to compare the values at a path."""
    declared = POST_FIELDS.get(path.removeprefix("post."))
    if path.startswith("post.") and declared is not None and declared.format:
        return ValueShape(declared.format)
    kind, nested = kind_at(path, document)
    # The URL of an embed module loads another site's page, which has its own risk.
    if kind == "url" and path.startswith("modules."):
        module = document.module(path.split(".", 2)[1])
        kind = "embed" if module is not None and module.type == "embed" else kind
    return ValueShape(kind, nested)


def _kind_of(props: type[ModuleProps] | None, name: str) -> tuple[str, type[ModuleProps] | None]:
    prop = props_of(props).get(name) if props else None
    return (prop.kind, prop.nested) if prop else ("json", None)


def replaces_shared(change: Change) -> bool:
    """Return whether an override of a shared value is added or removed."""
    return _OVERRIDES in change.path and (change.before is ABSENT or change.after is ABSENT)


def effective_value(
    change: Change, value: Value, document: PostDocument, shared: SharedProps
) -> Value:
    """Return the value; for a missing override, the value of the module that it would replace."""
    if value is not ABSENT or _OVERRIDES not in change.path or change.module_id is None:
        return value
    own = value_at(document, change.path.replace(_OVERRIDES, ".props."))
    module = document.module(change.module_id)
    if own is not ABSENT or module is None:
        return own
    return shared.get(module.instance_id, {}).get(change.path.rpartition(".")[2], ABSENT)


def shared_props(
    changes: Iterable[Change], *documents: PostDocument
) -> dict[str, Mapping[str, Json]]:
    """Return the props of the global modules that these changes place, remove or override.

    No query if there are none.
    """
    touched = {
        change.module_id for change in changes if change.module_id and change.kind != "moved"
    }
    ids = {
        module.instance_id
        for document in documents
        for module in document.modules
        if module.scope == "global" and module.id in touched
    }
    if not ids:
        return {}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    return {str(pk): props for pk, props in rows}


def merge_shared(module: ModuleDocument, shared: SharedProps) -> ModuleDocument:
    """Return the module with its shared props."""
    return replace(module, props={**shared.get(module.instance_id, {}), **module.props})


def _position_text(behind: str, document: PostDocument) -> str:
    """Return the position as text: "first" or "after Hero". Modules with the same label are numbered."""
    if not behind:
        return "first"
    return f"after {raw_module_names(document).get(behind, behind)}"


def passage_names(comparison: Comparison, kind: str) -> Mapping[int, str]:
    """Return the name of each passage by number. Empty if there is nothing to choose."""
    if kind not in DIVISIBLE or len(comparison.passages) < 2:
        return {}
    found: dict[int, str] = {}
    seen: Counter[str] = Counter()
    for number, differences in comparison.by_passage().items():
        # The name depends on the content and not on the position, so that it stays valid after other passages are
        # decided.
        contents = [one.content for one in differences]
        text = canonical_json(contents).encode("utf-8", "surrogatepass")
        name = hashlib.sha256(text).hexdigest()[:_NAME_LENGTH]
        # Equal passages get numbers.
        seen[name] += 1
        found[number] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return found


def names_of(change: Change, comparison: Comparison, kind: str) -> Mapping[int, str]:
    """Return the names of the passages of a change. Empty if it is one decision."""
    # An added or removed override is one decision, because the shared value may change meanwhile.
    if change.kind != "changed" or replaces_shared(change):
        return {}
    return passage_names(comparison, kind)


def passages_at(change: Change, before: PostDocument, after: PostDocument) -> tuple[str, ...]:
    """Return the names of the passages of a change."""
    found, kind = compare_change(change, before, after)
    return tuple(names_of(change, found.comparison, kind).values())


def apply_passages(
    change: Change, before: PostDocument, after: PostDocument, chosen: Collection[str]
) -> Value:
    """Return the value of a change with only the chosen passages applied."""
    found, kind = compare_change(change, before, after)
    numbers = {
        number for number, name in passage_names(found.comparison, kind).items() if name in chosen
    }
    return found.part.value(numbers)
