"""What scripts need of a control beyond its plain widget: the stored document, the default, the origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from proofroom.core.json import Json
from proofroom.definitions import modules
from proofroom.editorial.post_editor.controls import Control
from proofroom.editorial.post_editor.form import FormUnit
from proofroom.editorial.post_editor.form_fields import (
    EditorField,
    Typed,
    nearest,
    typed_of,
)
from proofroom.editorial.post_editor.origins import Origin, origin_at
from proofroom.editorial.post_editor.rich_text_values import markdown_of

_RESETTABLE: Final = frozenset({"text", "textarea", "select", "number", "date", "icon"})


def dress(
    control: Control, unit: FormUnit, typed: Typed, default: Json, origins: Mapping[str, Origin]
) -> None:
    """Add it to a control and to those within."""
    _dress(control, unit.field, typed, unit.value)
    control.source = origin_at(unit.path, origins)
    if control.source is not None:
        control.origin, control.is_ai = control.source.words, control.source.is_ai
    if unit.field.kind in _RESETTABLE and default is not None:
        control.default = str(typed_of(unit.field, default))


def _dress(control: Control, field: EditorField, typed: object, stored: Json) -> None:
    control.among = field.among
    if field.kind == "richtext":
        # What the editor opens with, if it is what the Markdown shows; else it reads the Markdown.
        if not control.is_written and isinstance(stored, Mapping) and markdown_of(stored) == typed:
            control.document = orjson.dumps(stored).decode()
    elif field.kind == "repeater" and isinstance(typed, list):
        known = stored if isinstance(stored, list | tuple) else []
        for at, item in enumerate(typed):
            _parts(control.items[at], field, item, nearest(field, item, known, at))
        _parts(control.blank, field, {}, None)
    elif field.kind == "object":
        _parts(control.parts, field, typed, stored)


def _parts(controls: Sequence[Control], field: EditorField, typed: object, stored: Json) -> None:
    values = typed if isinstance(typed, dict) else {}
    kept = stored if isinstance(stored, Mapping) else {}
    for control, inner in zip(controls, field.nested, strict=False):
        _dress(control, inner, values.get(inner.name, ""), kept.get(inner.name))


def defaults_of(module_type: str) -> Mapping[str, Json]:
    """The values of a module that nobody touched."""
    definition = modules.get(module_type)
    return definition.default_props() if definition else {}
