"""Reads the submitted form of a post and builds the edit.

The form contains a stamp of every value that it showed (`was`). Only values that differ from it become part of the
edit, so that changes by other users are preserved, and typed values survive every rejected save.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from content.document.document import CUSTOM_PREFIX, PostDocument
from content.store import document_edits
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import invalid
from proofroom.core.json import Json, JsonObject
from proofroom_apps.editorial.post_editor.form import (
    NEW_PREFIX,
    ROBOTS,
    FormSection,
    FormUnit,
    ModuleSection,
    module_sections,
    new_module,
    post_sections,
    robots_from_form,
    shared_modules,
)
from proofroom_apps.editorial.post_editor.form_fields import (
    Typed,
    from_typed,
    read,
    to_typed,
    value_stamp,
)
from proofroom_apps.editorial.post_editor.rich_text import is_as_stored

_HASH: Final = re.compile(r"[0-9a-f]{32}")
Shared = Mapping[str, tuple[str, Mapping[str, Json]]]
"""Instance id and props of global modules, by slug."""


@dataclass(slots=True)
class Sheet:
    """The form of a post: sections, module order, typed values, and stamps of the shown values.

    `created` maps the form names of added modules to their new ids.
    """

    document: PostDocument
    shared: Shared
    sections: list[FormSection]
    modules: list[ModuleSection]
    typed: dict[str, Typed]
    was: dict[str, str]
    was_order: list[str]
    created: dict[str, str] = field(default_factory=dict)

    def units(self) -> list[FormUnit]:
        groups: Sequence[FormSection | ModuleSection] = [*self.sections, *self.modules]
        return [unit for group in groups for unit in group.units]

    def touched(self) -> list[FormUnit]:
        """Return the units that the user changed."""
        return [unit for unit in self.units() if self._is_typed_anew(unit)]

    def _is_typed_anew(self, unit: FormUnit) -> bool:
        typed = self.typed[unit.path]
        # The editor sends its document even if the user changed nothing. Its stamp differs from the Markdown's.
        is_rich = unit.field.kind == "richtext"
        return value_stamp(typed) != self.was.get(unit.path) and not (
            is_rich and is_as_stored(typed, unit.value)
        )

    def differing(self) -> list[FormUnit]:
        """Return the units that the user changed and that differ from the stored values."""
        now = self.stamps()
        return [
            unit
            for unit in self.touched()
            if value_stamp(self.typed[unit.path]) != now.get(unit.path)
        ]

    @property
    def order(self) -> list[str]:
        return [module.token for module in self.modules]

    def stamps(self) -> dict[str, str]:
        """Return the stamps of the stored values, for the next `was`."""
        return {
            unit.path: value_stamp(to_typed(unit.field, unit.value))
            for unit in self.units()
            # Values of new modules are not stored yet.
            if not _is_new(unit.path)
        }

    def moved(self) -> list[str]:
        """Return the paths that other users changed since the form was shown."""
        sections = module_sections(self.document.modules, dict(self.shared.values()))
        # All stored modules, including modules that this form removed.
        now = replace(self, modules=sections).stamps()
        return [path for path, was in self.was.items() if path in now and now[path] != was]


def initial_sheet(document: PostDocument) -> Sheet:
    """Return the form as first shown."""
    sheet = _empty_sheet(document)
    sheet.typed = {unit.path: to_typed(unit.field, unit.value) for unit in sheet.units()}
    # Nothing is typed yet, so the stamps match the stored values.
    sheet.was = {path: value_stamp(typed) for path, typed in sheet.typed.items()}
    sheet.was_order = list(document.order)
    return sheet


def read_sheet(document: PostDocument, data: QueryDict, who: Scoped) -> Sheet:
    """Return the submitted form, over the current document."""
    sheet = _empty_sheet(document)
    for text in data.getlist("was"):
        # Modules loaded after the page have separate `was` fields.
        try:
            stamps = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(stamps, dict):
            sheet.was |= {str(path): str(was) for path, was in stamps.items()}
    sheet.was_order = data.getlist("was_order")
    sheet.modules = _modules_in_order(sheet, data.getlist("order"))
    for unit in sheet.units():
        typed = read(unit.field, data, unit.path, who)
        is_known = unit.path in sheet.was or _is_new(unit.path)
        current = to_typed(unit.field, unit.value)
        # The field is newer than the form, or the user chose the other user's value in a conflict.
        if not is_known or data.get(f"take.{unit.path}") == "theirs":
            sheet.was[unit.path], typed = value_stamp(current), current
        sheet.typed[unit.path] = typed
    return sheet


def read_source_hashes(data: QueryDict) -> dict[str, str]:
    """Return the hashes of source values that a translation page showed, by path. Malformed values are skipped."""
    try:
        sent = json.loads(data.get("sources") or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(sent, dict):
        return {}
    return {
        path: hash_
        for path, hash_ in sent.items()
        if isinstance(hash_, str) and _HASH.fullmatch(hash_)
    }


def refresh(sheet: Sheet) -> list[str]:
    """Update unchanged fields to the stored values. Return the paths that other users changed meanwhile."""
    moved = sheet.moved()
    own = {unit.path for unit in sheet.touched()}
    for unit in sheet.units():
        if unit.path not in own:
            sheet.typed[unit.path] = to_typed(unit.field, unit.value)
    sheet.was, sheet.was_order = sheet.stamps(), list(sheet.document.order)
    return moved


def _empty_sheet(document: PostDocument) -> Sheet:
    shared = shared_modules()
    props = dict(shared.values())
    sections = module_sections(document.modules, props)
    return Sheet(document, shared, post_sections(document), sections, {}, {}, [])


def _is_new(path: str) -> bool:
    return path.startswith(f"modules.{NEW_PREFIX}")


def _modules_in_order(sheet: Sheet, tokens: Sequence[str]) -> list[ModuleSection]:
    """Return the modules in form order, followed by modules that other users added since."""
    known = {module.id: module for module in sheet.modules}
    # The user removed all modules that the form showed. Only newer ones are left.
    if not tokens:
        return [module for module in sheet.modules if module.id not in sheet.was_order]
    found: list[ModuleSection] = []
    for token in dict.fromkeys(tokens):
        section = known.get(token)
        if section is None and token.startswith(NEW_PREFIX):
            section = new_module(token, sheet.shared)
        # Tokens such as `new-1:hero` and `new-1:prose` differ, but the names of their fields would be the same.
        if section is not None and any(section.id == other.id for other in found):
            raise invalid("order", _("Two modules of the form have one id. Load the page again."))
        if section is not None:
            found.append(section)
    added = [id_ for id_ in known if id_ not in sheet.was_order and id_ not in tokens]
    return found + [known[id_] for id_ in added]


def edit_of(sheet: Sheet, document: PostDocument) -> PostDocument:
    """Return `document` with the typed values.

    Raises `RuleViolation` or `NotFound` from `content.store.document_edits`.
    """
    touched = sheet.touched()
    fields: JsonObject = {}
    custom: JsonObject = {}
    for unit in touched:
        if not unit.path.startswith("post."):
            continue
        name = unit.path.removeprefix("post.")
        value = from_typed(unit.field, sheet.typed[unit.path], unit.value, name)
        if name == ROBOTS:
            value = robots_from_form(value)
        if name.startswith(CUSTOM_PREFIX):
            custom[name.removeprefix(CUSTOM_PREFIX)] = value
        else:
            fields[name] = value
    document = document_edits.patch_fields(
        document, {**fields, **({"customFields": custom} if custom else {})}
    )
    # First create the new modules, since the loop below sets their props.
    document = _arrange_modules(sheet, document)
    for module in sheet.modules:
        values = {
            unit.field.name: from_typed(unit.field, sheet.typed[unit.path], unit.value, unit.path)
            for unit in module.units
            if unit in touched
        }
        id_ = sheet.created.get(module.id, module.id)
        # `document` can be newer than the form, and the module removed from it.
        if values and document.module(id_):
            document = document_edits.update_module(document, id_, props=values)
    return document


def _arrange_modules(sheet: Sheet, document: PostDocument) -> PostDocument:
    """Return the document with the form's added, removed and moved modules."""
    removed = [id_ for id_ in sheet.was_order if id_ not in sheet.order]
    # An order that the user did not change must not undo a move by another user.
    if not removed and sheet.order == sheet.was_order:
        return document
    for id_ in removed:
        if document.module(id_):
            document = document_edits.remove_module(document, id_)
    for module in sheet.modules:
        if module.is_new:
            slug = module.shared_slug
            document, id_ = document_edits.add_module(
                document,
                type=module.type,
                shared=(slug, sheet.shared[slug][0]) if slug else None,
            )
            sheet.created[module.id] = id_
    wanted = [sheet.created.get(module.id, module.id) for module in sheet.modules]
    modules = {module.id: module for module in document.modules}
    order = [id_ for id_ in wanted if id_ in modules]
    # Modules unknown to the form stay next to their neighbours.
    for at, id_ in enumerate(document.order):
        if id_ not in order:
            earlier = reversed(document.order[:at])
            before = next((other for other in earlier if other in order), None)
            order.insert(order.index(before) + 1 if before else 0, id_)
    return replace(document, modules=tuple(modules[id_] for id_ in order))
