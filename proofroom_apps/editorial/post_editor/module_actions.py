"""Form buttons that save nothing: add, move and remove modules and list items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import cast

from django.http import QueryDict

from proofroom_apps.editorial.post_editor.form import (
    NEW_PREFIX,
    FormUnit,
    ModuleSection,
    new_module,
)
from proofroom_apps.editorial.post_editor.form_data import Sheet
from proofroom_apps.editorial.post_editor.form_fields import (
    EditorField,
    Typed,
    to_typed,
    value_stamp,
)


def rearrange(sheet: Sheet, do: str, data: QueryDict) -> None:
    """Apply the button `do` to the typed values; an unknown button changes nothing.

    `add`, `duplicate:<module>`, `up:<module>`, `down:<module>`, `remove:<module>`, `item-add:<path>`,
    `item-up:<path>.<n>`, `item-down:…`, `item-remove:…`, `item-duplicate:…`.
    """
    verb, _, target = do.partition(":")
    if verb == "add":
        _add(sheet, data.get("add", ""), data.get("number", ""))
    elif verb == "duplicate":
        _duplicate(sheet, target, data.get("number", ""))
    elif verb in ("up", "down", "remove"):
        at = next((n for n, module in enumerate(sheet.modules) if module.id == target), None)
        if at is None or sheet.modules[at].is_locked:
            return
        module = sheet.modules.pop(at)
        if verb != "remove":
            sheet.modules.insert(max(0, at - 1) if verb == "up" else at + 1, module)
    else:
        rearrange_items(sheet.units(), sheet.typed, do)


def rearrange_items(units: Sequence[FormUnit], typed: Mapping[str, Typed], do: str) -> None:
    """Apply the button of a list or list item to the typed values, by path of the units."""
    verb, _, target = do.partition(":")
    if verb == "item-add":
        found = _list_at(units, typed, target)
        if found is not None:
            field, items = found
            items.append({inner.name: to_typed(inner, None) for inner in field.nested})
    elif verb.startswith("item-"):
        path, _, number = target.rpartition(".")
        found = _list_at(units, typed, path)
        if found is not None and number.isdecimal() and len(number) < 5:
            _rearrange_item(found[1], verb.removeprefix("item-"), int(number))


def _add(sheet: Sheet, kind: str, number: str) -> ModuleSection | None:
    """Append a new module with the requested number, or the first free one."""
    taken = {module.id for module in sheet.modules}
    wanted = f"{NEW_PREFIX}{number}" if number.isdecimal() and len(number) < 5 else ""
    # At most four digits, as `new_module` accepts no more.
    free = (name for n in range(1, 10_000) if (name := f"{NEW_PREFIX}{n}") not in taken)
    name = wanted if wanted and wanted not in taken else next(free)
    module = new_module(f"{name}:{kind}", sheet.shared)
    if module is None:
        return None
    sheet.modules.append(module)
    for unit in module.units:
        sheet.typed[unit.path] = to_typed(unit.field, unit.value)
        # Values count as changed only if they differ from the defaults or the global module's values.
        sheet.was[unit.path] = value_stamp(sheet.typed[unit.path])
    return module


def _duplicate(sheet: Sheet, module_id: str, number: str) -> None:
    """Insert a copy after the module, with its typed values."""
    at = next((n for n, module in enumerate(sheet.modules) if module.id == module_id), None)
    if at is None:
        return
    source = sheet.modules[at]
    slug = source.shared_slug
    copy = _add(sheet, f"{source.type}@{slug}" if slug else source.type, number)
    if copy is None:
        return
    sheet.modules.remove(copy)
    sheet.modules.insert(at + 1, copy)
    # By field name, since the paths contain the ids of the modules.
    typed = {unit.field.name: deepcopy(sheet.typed[unit.path]) for unit in source.units}
    for unit in copy.units:
        sheet.typed[unit.path] = typed.get(unit.field.name, sheet.typed[unit.path])


def _list_at(
    units: Sequence[FormUnit], values: Mapping[str, Typed], path: str
) -> tuple[EditorField, list[dict[str, Typed]]] | None:
    """Return the repeater at a path and its typed items."""
    unit = next((one for one in units if f"{path}.".startswith(f"{one.path}.")), None)
    if unit is None:
        return None
    field, typed = unit.field, cast("object", values[unit.path])
    rest = [part for part in path.removeprefix(unit.path).split(".") if part]
    while rest:
        if field.kind == "repeater" and isinstance(typed, list):
            number = rest.pop(0)
            if not number.isdecimal() or int(number) >= len(typed):
                return None
            typed = typed[int(number)]
        elif field.kind != "object":
            return None
        inner = next((one for one in field.nested if rest and one.name == rest[0]), None)
        if inner is None or not isinstance(typed, dict) or inner.name not in typed:
            return None
        field, typed = inner, typed[rest.pop(0)]
    if field.kind != "repeater" or not isinstance(typed, list):
        return None
    return field, cast("list[dict[str, Typed]]", typed)


def _rearrange_item(items: list[dict[str, Typed]], verb: str, at: int) -> None:
    if at >= len(items):
        return
    item = items.pop(at)
    if verb == "up":
        items.insert(max(0, at - 1), item)
    elif verb == "down":
        items.insert(at + 1, item)
    elif verb == "duplicate":
        items[at:at] = [item, deepcopy(item)]
    elif verb != "remove":
        items.insert(at, item)
