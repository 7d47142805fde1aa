"""Copy modules of a form as JSON, and insert copied modules or a snippet as new modules of a form. Saves nothing.

The JSON travels over the clipboard of the browser, so it is checked like any input.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from content.document.contents import EMBED
from content.modules.module_copies import (
    COPIES_MAX,
    ModuleCopy,
    RefusedCopy,
    read_copies,
    require_small,
    split_copies,
    split_valid,
)
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import Json, JsonObject
from proofroom_apps.editorial.post_editor.form import NEW_PREFIX, ModuleSection, new_module
from proofroom_apps.editorial.post_editor.form_data import Sheet, initial_sheet, read_sheet
from proofroom_apps.editorial.post_editor.form_fields import (
    EditorField,
    Typed,
    from_typed,
    to_typed,
    value_stamp,
)
from proofroom_apps.editorial.post_editor.module_cards import cards_of
from proofroom_apps.editorial.post_editor.page import ControlBuilder, Frame, rights_of
from proofroom_apps.editorial.post_editor.rich_text import markdown_of
from proofroom_apps.embeds.providers import split_address
from proofroom_apps.embeds.services import request_facts
from proofroom_apps.snippets.services import find_snippet

MARK: Final = "proofroom/modules"
"""The type that copied modules have on the clipboard, to tell them from other text."""
VERSION: Final = 1


@require_POST
@service_errors_as_http
def copy_modules(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return the modules named by `module`, with what is typed in them, as JSON for the clipboard."""
    require(request, "posts.view")
    frame = Frame.read(request, post_id)
    wanted = request.POST.getlist("module")
    sheet = read_sheet(frame.document, request.POST, actor_of(request))
    found = [module for module in sheet.modules if module.id in wanted and module.is_known]
    try:
        copies = [_copy_of(sheet, module).to_json() for module in found]
        read_copies(copies)
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    return JsonResponse(
        {"type": MARK, "version": VERSION, "modules": copies},
        json_dumps_params={"ensure_ascii": False},
    )


def _copy_of(sheet: Sheet, module: ModuleSection) -> ModuleCopy:
    touched = {unit.path for unit in sheet.touched()}
    stored = sheet.document.module(module.id)
    overrides = dict(stored.overrides) if stored is not None else {}
    values: JsonObject = {
        unit.field.name: from_typed(unit.field, sheet.typed[unit.path], unit.value, unit.path)
        for unit in module.units
        # A global module gives its other values itself.
        if not module.shared_slug or unit.path in touched
    }
    if module.shared_slug:
        return ModuleCopy(module.type, {}, overrides | values, module.shared_slug)
    return ModuleCopy(module.type, values, {})


@require_POST
@service_errors_as_http
def paste_modules(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return copied modules (`clipboard`), those of a `snippet`, or an `embed` of an address as new modules.

    `number` is the first free number of new modules. Modules that the post cannot have are named with the reason.
    """
    require(request, "posts.edit")
    frame = Frame.read(request, post_id)
    sheet = initial_sheet(frame.document)
    try:
        if snippet_id := request.POST.get("snippet"):
            copies = [*map(ModuleCopy.from_stored, find_snippet(snippet_id).modules)]
        elif url := request.POST.get("embed"):
            copies = [_embed(url)]
        else:
            copies = read_clipboard(request.POST.get("clipboard", ""))
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    allowed, refused = split_copies(copies, post_type=frame.post.type, shared=sheet.shared)
    usable, faulty = split_valid(allowed)
    sheet.modules, sheet.typed, sheet.was = [], {}, {}
    for copy in usable:
        _insert(sheet, copy, _first_number(request) + len(sheet.modules))
    return _answer(frame, sheet, [*refused, *faulty])


def _embed(url: str) -> ModuleCopy:
    """Return an embed of an address, about which its provider is asked. Raises `RuleViolation` on `embed`."""
    if split_address(url) is None:
        raise invalid("embed", _("Enter a full address that starts with https:// or http://."))
    request_facts([url])
    return ModuleCopy(EMBED, {"url": url}, {})


def read_clipboard(text: str) -> list[ModuleCopy]:
    """Return the modules in a text from the clipboard. Raises `RuleViolation` on `clipboard`."""
    require_small(len(text.encode("utf-8", "surrogatepass")), "clipboard")
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("type") != MARK:
        raise invalid("clipboard", _("The clipboard has no modules. Copy modules in a post first."))
    if found.get("version") != VERSION:
        raise invalid(
            "clipboard",
            _("These modules were copied in another version of the site. Copy them again."),
        )
    return read_copies(found.get("modules"), "clipboard")


def _first_number(request: HttpRequest) -> int:
    sent = request.POST.get("number", "")
    # New modules have numbers of at most four digits.
    number = int(sent) if sent.isdecimal() and len(sent) < 5 else 1
    return min(number, 9_999 - COPIES_MAX)


def _insert(sheet: Sheet, copy: ModuleCopy, number: int) -> None:
    """Add a copy to the form as a new module."""
    kind = f"{copy.type}@{copy.global_slug}" if copy.global_slug else copy.type
    module = new_module(f"{NEW_PREFIX}{number}:{kind}", sheet.shared)
    if module is None:
        raise AssertionError(kind)
    values = {**copy.props, **copy.overrides}
    sheet.modules.append(module)
    for unit in module.units:
        # Values count as changed only if they differ from the defaults or the global module's values.
        sheet.was[unit.path] = value_stamp(to_typed(unit.field, unit.value))
        value = values.get(unit.field.name, unit.value)
        sheet.typed[unit.path] = (
            _typed(unit.field, value) if value != unit.value else to_typed(unit.field, value)
        )


def _typed(field: EditorField, value: Json) -> Typed:
    """Return the typed value with whole rich-text documents, which Markdown could not express."""
    if field.kind == "richtext" and isinstance(value, dict):
        document = json.dumps(value, ensure_ascii=False)
        return cast("Typed", {"markdown": markdown_of(value), "document": document})
    if field.kind == "object" and isinstance(value, dict):
        return {inner.name: _typed(inner, value.get(inner.name)) for inner in field.nested}
    if field.kind == "repeater" and isinstance(value, list):
        return [
            {inner.name: _typed(inner, item.get(inner.name)) for inner in field.nested}
            for item in value
        ]
    return to_typed(field, value)


def _answer(frame: Frame, sheet: Sheet, refused: Iterable[RefusedCopy]) -> HttpResponse:
    alone = replace(sheet, sections=[])
    touched = {unit.path for unit in alone.touched()}
    builder = ControlBuilder(frame, alone, {})
    cards = cards_of(alone, builder.build, {}, touched=touched)
    context = {
        "cards": cards,
        "refused": list(refused),
        "layer": frame.layer or "",
        **rights_of(frame),
    }
    return render(frame.request, "admin/posts/pasted_modules.html", context)
