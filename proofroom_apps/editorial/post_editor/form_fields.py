"""Form fields from definitions, and the conversion of their values.

A *typed* value is the form's representation: text, a list of strings, or nested dicts and lists of them. Rich text is
typed as Markdown, or as the editor's document (`rich_text.py`). `to_typed` and `read` return the same for an
unchanged value, so that untouched values are never rewritten.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias, cast

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from content.models import Post
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import invalid
from proofroom.core.i18n.time_zones import from_local_input, to_local_input
from proofroom.core.json import Json, format_time
from proofroom.core.site_urls import canonical_form
from proofroom.core.validation.json_text import read_json
from proofroom.definitions import ModuleProps, props_of
from proofroom.definitions.props import json_schema, option_label
from proofroom_apps.editorial.post_editor.rich_text import (
    markdown_of,
    normalize_line_ends,
    read_written,
    require_encodable,
    rich_text,
)

Typed: TypeAlias = "str | bool | list[str] | list[dict[str, Typed]] | dict[str, Typed]"
Choice: TypeAlias = tuple[str, str]
"""A value and its label."""
ITEMS_MAX: Final = 200
_MULTIPLE: Final = frozenset({"multiselect"})
REFERENCES: Final = frozenset({"media", "post-reference", "taxonomy-reference"})
_SELF_EVIDENT: Final = frozenset({"richtext", "form-reference"})
"""Kinds whose help is only for authors of JSON; the form omits it."""
PEOPLE: Final = "people"
"""Kind of accounts in an order of their own. The typed value is text, since the order of lists has no meaning."""
PICKED: Final = REFERENCES | {"terms", "form-reference", PEOPLE}
"""Kinds with values chosen from existing objects."""


@dataclass(frozen=True, slots=True)
class EditorField:
    """One field of a form. `nested` are the fields of an object or of each item of a repeater.

    `among` is the post type or taxonomy that a reference is limited to, `accepts` the kind of files, if any.
    """

    name: str
    label: str
    kind: str
    help: str = ""
    choices: tuple[Choice, ...] = ()
    is_list: bool = False
    is_nullable: bool = False
    max_length: int | None = None
    among: str = ""
    accepts: str = ""
    min_items: int = 0
    max_items: int | None = None
    nested: tuple[EditorField, ...] = ()
    add_label: str = ""


@cache
def fields_of(props: type[ModuleProps]) -> tuple[EditorField, ...]:
    """Return the form fields of a class of props, in declaration order."""
    return _fields(props, cast("Mapping[str, Json]", json_schema(props).get("properties") or {}))


def _fields(props: type[ModuleProps], schema: Mapping[str, Json]) -> tuple[EditorField, ...]:
    found = []
    for prop in props_of(props).values():
        node = cast("Mapping[str, Json]", schema.get(prop.name) or {})
        item = cast("Mapping[str, Json]", node.get("items") or {})
        inner = cast("Mapping[str, Json]", (item or node).get("properties") or {})
        types = node.get("type")
        choices = item if prop.kind in _MULTIPLE else node
        # The schema of a single choice has `const` instead of `enum`.
        values = choices.get("enum") or ([choices["const"]] if "const" in choices else [])
        found.append(
            EditorField(
                name=prop.name,
                label=prop.label,
                kind=prop.kind,
                help="" if prop.kind in _SELF_EVIDENT else str(node.get("description") or ""),
                choices=tuple(
                    (str(value), option_label(value)) for value in cast("Sequence[Json]", values)
                ),
                is_list=prop.kind in _MULTIPLE or (prop.kind in REFERENCES and types == "array"),
                is_nullable=isinstance(types, list) and "null" in types,
                max_length=cast("int | None", node.get("maxLength")),
                among=str(node.get("postType") or node.get("taxonomy") or ""),
                accepts=str(node.get("accepts") or ""),
                min_items=cast("int", node.get("minItems") or 0),
                max_items=cast("int | None", node.get("maxItems")),
                nested=_fields(prop.nested, inner) if prop.nested else (),
                add_label=prop.nested.add_label if prop.nested else "",
            )
        )
    return tuple(found)


def to_typed(field: EditorField, value: Json) -> Typed:
    """Return the typed value for a stored value."""
    if field.kind == "repeater":
        items = value if isinstance(value, list | tuple) else []
        return [_typed_object(field, item) for item in items[:ITEMS_MAX]]
    if field.kind == "object":
        return _typed_object(field, value)
    if field.kind == "boolean":
        return value is True
    if field.kind == PEOPLE:
        return ",".join(str(item) for item in value) if isinstance(value, list | tuple) else ""
    if field.is_list:
        return [str(item) for item in value] if isinstance(value, list | tuple) else []
    if field.kind == "richtext":
        return markdown_of(value)
    if field.kind == "json":
        return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    if field.kind == "moment":
        moment = parse_datetime(str(value)) if value else None
        return to_local_input(moment) if moment else ""
    if value is None:
        return ""
    return str(value) if field.kind == "number" else normalize_line_ends(str(value))


def _typed_object(field: EditorField, value: Json) -> dict[str, Typed]:
    values = value if isinstance(value, Mapping) else {}
    return {inner.name: to_typed(inner, values.get(inner.name)) for inner in field.nested}


def read(field: EditorField, data: QueryDict, name: str, who: Scoped) -> Typed:
    """Return the submitted value of that name. A post may be given by its path if the user may see it."""
    if field.kind == "repeater":
        count = data.get(f"{name}.count", "0")
        # `int` fails for thousands of digits, so check the length first.
        items = min(int(count), ITEMS_MAX) if count.isdecimal() and len(count) < 5 else 0
        return [_read_object(field, data, f"{name}.{at}", who) for at in range(items)]
    if field.kind == "object":
        return _read_object(field, data, name, who)
    if field.kind == "boolean":
        return name in data
    # A choice that is not in the list can be given by id; a post also by path.
    other = data.get(f"{name}~other", "").strip() if field.kind in REFERENCES else ""
    if field.kind == "post-reference" and other.startswith("/"):
        found = visible_to(Post.objects.alive().filter(path=canonical_form(other)), who).first()
        other = str(found.pk) if found is not None else other
    if field.kind == PEOPLE:
        return ",".join(value for value in data.getlist(name) if value)
    if field.is_list:
        return [value for value in [*data.getlist(name), other] if value]
    if other:
        return other
    if field.kind == "richtext":
        return cast("Typed", read_written(data, name))
    return normalize_line_ends(data.get(name, ""))


def _read_object(field: EditorField, data: QueryDict, name: str, who: Scoped) -> dict[str, Typed]:
    return {inner.name: read(inner, data, f"{name}.{inner.name}", who) for inner in field.nested}


def from_typed(field: EditorField, typed: Typed, old: Json, where: str) -> Json:
    """Return the value to store. `old` is the present one; its rich text is retained if its Markdown is unchanged.

    Raises `RuleViolation` on `where` for invalid JSON. The services validate everything else.
    """
    if field.kind == "repeater" and isinstance(typed, list):
        known = old if isinstance(old, list | tuple) else []
        return [
            _object(field, item, match_item(field, item, known, at), f"{where}.{at}")
            for at, item in enumerate(typed)
        ]
    if field.kind == "object":
        return _object(field, typed, old, where)
    if field.kind == "richtext":
        return rich_text(typed, old, where)
    if field.kind == PEOPLE and isinstance(typed, str):
        # Validation reports what is not a number.
        parts = [part for part in typed.split(",") if part]
        return [int(part) if part.isdecimal() and len(part) < 12 else part for part in parts]
    if isinstance(typed, list) and isinstance(old, list | tuple):
        # A form sends choices in the order of its options. The same choices keep their stored order.
        is_same = sorted(map(str, typed)) == sorted(map(str, old))
        return cast("Json", list(old) if is_same else typed)
    if isinstance(typed, bool | list | dict):
        return cast("Json", typed)
    if field.kind == "number":
        # Some languages write a decimal comma.
        text = typed.strip().replace(",", ".")
        try:
            number = int(text) if text.lstrip("+-").isdecimal() else float(text)
        except ValueError:
            return typed if text else None  # validation reports that it is not a number
        return number
    if field.kind == "json":
        if not typed.strip():
            return None
        try:
            return require_encodable(read_json(typed))
        # Before ValueError, of which it is a subclass.
        except UnicodeEncodeError:
            sentence = _(
                "This contains an incomplete character (a lone surrogate), which cannot be stored."
            )
            raise invalid(where, sentence) from None
        except ValueError as error:
            raise invalid(where, str(error)) from None
    if field.kind == "moment":
        try:
            return format_time(from_local_input(typed)) if typed else None
        except ValidationError as error:
            raise invalid(where, str(error.message)) from None
        except (ValueError, OverflowError):
            return typed  # validation reports that it is not a time
    return None if not typed and (field.is_nullable or field.kind in REFERENCES) else typed


def _object(field: EditorField, typed: object, old: Json, where: str) -> Json:
    values = typed if isinstance(typed, dict) else {}
    before = old if isinstance(old, Mapping) else {}
    return {
        inner.name: from_typed(
            inner, values[inner.name], before.get(inner.name), f"{where}.{inner.name}"
        )
        for inner in field.nested
        if inner.name in values
    }


def match_item(field: EditorField, item: object, known: Sequence[Json], at: int) -> Json:
    """Return the stored item of a typed one: an equal item, else the one at its index."""
    # An equal item first: after a move its stored rich text, which Markdown may not express, must move with it.
    for old in known:
        if _typed_object(field, old) == item:
            return old
    return known[at] if at < len(known) else None


def value_stamp(typed: Typed) -> str:
    """Return a short hash of a typed value, to detect changes."""
    text = json.dumps(_unordered(typed), sort_keys=True, ensure_ascii=False)
    # A value can contain half a character (a lone surrogate), for which plain UTF-8 fails.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _unordered(typed: Typed) -> Typed:
    """Return the value with lists of choices sorted, since a form sends choices in the order of its options."""
    if isinstance(typed, dict):
        return {name: _unordered(value) for name, value in typed.items()}
    if isinstance(typed, list):
        if words := [item for item in typed if isinstance(item, str)]:
            return sorted(words)
        return [
            cast("dict[str, Typed]", _unordered(item)) for item in typed if isinstance(item, dict)
        ]
    return typed
