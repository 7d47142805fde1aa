"""A module type as a small drawing, made from the fields of its definition: where text, pictures and lists stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from proofroom.definitions import Module, find_module
from proofroom.editorial.post_editor.form_fields import EditorField, fields_of

WIDTH: Final = 128
HEIGHT: Final = 80
_LEFT: Final = 10
_BOTTOM: Final = 72


@dataclass(frozen=True, slots=True)
class WireframeBox:
    """A rectangle. `kind` is a class of the stylesheet: title, line, image, button, box."""

    kind: str
    x: int
    y: int
    width: int
    height: int


@cache
def wireframe_of(type_name: str) -> tuple[WireframeBox, ...]:
    """The drawing of a module, top to bottom."""
    module = find_module(type_name)
    fields = fields_of(module.Props)
    has_image = any(field.kind == "media" for field in fields)
    width = 54 if has_image else WIDTH - 2 * _LEFT
    shapes = list(_column(module, fields, width))
    if has_image:
        shapes.append(WireframeBox("image", 72, 10, 46, 52))
    if not shapes:
        shapes.append(WireframeBox("line", _LEFT, HEIGHT // 2, WIDTH - 2 * _LEFT, 2))
    return tuple(shapes)


def _column(
    module: type[Module], fields: Sequence[EditorField], width: int
) -> Iterator[WireframeBox]:
    y, texts = 12, 0
    for field in fields:
        is_text = field.kind == "text" and texts < 2 and not field.name.endswith("Label")
        drawn = list(_text(y, width, texts) if is_text else _field(field, y, width))
        texts += is_text
        drawn = [shape for shape in drawn if shape.y + shape.height <= _BOTTOM]
        yield from drawn
        y = max([y, *(shape.y + shape.height + 5 for shape in drawn)])
    if module.name.endswith("-list") and not any(field.kind == "repeater" for field in fields):
        yield from _cards(y, width, has_image=True)


def _text(y: int, width: int, before: int) -> Iterator[WireframeBox]:
    """The first line is the headline."""
    yield WireframeBox(
        "line" if before else "title", _LEFT, y, width - 12 * (1 + before), 6 - 3 * before
    )


def _field(field: EditorField, y: int, width: int) -> Iterator[WireframeBox]:
    if field.kind in ("textarea", "richtext"):
        lines = 2 if field.kind == "textarea" else 4
        for n in range(lines):
            yield WireframeBox("line", _LEFT, y + 6 * n, width - (18 if n == lines - 1 else 0), 3)
    elif field.kind == "link":
        yield WireframeBox("button", _LEFT, y + 1, 30, 9)
    elif field.kind in ("repeater", "object", "post-reference", "json"):
        yield from _items(field, y, width)
    elif field.kind == "form-reference":
        yield from (WireframeBox("box", _LEFT, y + 12 * n, width, 8) for n in range(2))
        yield WireframeBox("button", _LEFT, y + 24, 30, 9)
    elif field.kind == "url":
        yield WireframeBox("image", _LEFT, y, width, 40)


def _items(field: EditorField, y: int, width: int) -> Iterator[WireframeBox]:
    kinds = {inner.kind for inner in field.nested}
    if "richtext" in kinds:
        for n in range(4):
            yield WireframeBox("box", _LEFT, y + 12 * n, width, 8)
    else:
        yield from _cards(y, width, has_image="media" in kinds)


def _cards(y: int, width: int, *, has_image: bool) -> Iterator[WireframeBox]:
    """Three beside one another."""
    each = (width - 12) // 3
    for n in range(3):
        x = _LEFT + n * (each + 6)
        yield WireframeBox("image" if has_image else "box", x, y, each, 20)
        yield WireframeBox("line", x, y + 24, each - 4, 3)
