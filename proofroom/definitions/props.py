"""Props classes by wire name, their JSON Schema, and reading stored values, which may be older than the class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, cast, get_args, get_origin

import orjson

from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.json_schema import NULL, Schema, inline_schema
from proofroom.definitions.fields import FieldType, ModuleProps
from proofroom.definitions.richtext.links import safe_href
from proofroom.definitions.richtext.nodes import to_text


@dataclass(frozen=True, slots=True)
class Prop:
    """A field: its wire name, field type, and for `object` and `repeater` the nested class."""

    name: str
    label: str
    kind: FieldType
    translatable: bool
    nested: type[ModuleProps] | None
    filterable: bool = False
    has_many: bool = False
    """True for a list of choices or references."""


@cache
def props_of(props: type[ModuleProps]) -> dict[str, Prop]:
    """Return the fields of a props class by wire name, in declaration order.

    Raises `TypeError` for a field without a field function.
    """
    found: dict[str, Prop] = {}
    for field_name, info in props.model_fields.items():
        extra = info.json_schema_extra
        if not isinstance(extra, dict) or "field" not in extra:
            place = f"{props.__module__}.{props.__qualname__}.{field_name}"
            raise TypeError(f"{place} needs a field function, such as Text()")
        classes = (info.annotation, *get_args(info.annotation))
        name = info.alias or field_name
        found[name] = Prop(
            name=name,
            label=info.title or field_name.replace("_", " ").capitalize(),
            kind=cast("FieldType", extra["field"]),
            translatable=bool(extra["translatable"]),
            nested=next(
                (one for one in classes if isinstance(one, type) and issubclass(one, ModuleProps)),
                None,
            ),
            filterable=bool(extra.get("filterable")),
            has_many=get_origin(info.annotation) is list,
        )
    return found


def defaults(props: type[ModuleProps]) -> JsonObject:
    """Return a new dict of the defaults, as JSON."""
    return cast("JsonObject", orjson.loads(_written_defaults(props)))


@cache
def _written_defaults(props: type[ModuleProps]) -> bytes:
    return orjson.dumps(props().model_dump(mode="json", by_alias=True))


def option_label(value: object) -> str:
    """Return the label of a choice. Pages translate it."""
    return str(value).replace("-", " ").capitalize()


def json_schema(props: type[ModuleProps]) -> JsonObject:
    """Return the JSON Schema 2020-12, without references, generated titles, `anyOf` for null, and empty defaults."""
    # Raises `TypeError` early for a field without a field function.
    props_of(props)
    return cast("JsonObject", inline_schema(props, _trim))


def _trim(node: Schema) -> Schema:
    options = node.get("anyOf", [])
    choices = [option for option in options if option != NULL]
    if len(choices) == 1 < len(options):
        # Write `X | null` as one node with a list of types.
        node = {**choices[0], **node, "type": [choices[0]["type"], "null"]}
        del node["anyOf"]
    trimmed = {**node}
    if "properties" in node:
        trimmed.pop("title", None)
        if "field" not in node:
            trimmed.pop("description", None)
    if node.get("field") == "richtext":
        # The API accepts Markdown for rich text.
        trimmed["type"] = ["string", "object"]
    if node.get("additionalProperties") is True:
        del trimmed["additionalProperties"]
    if "default" in node and node["default"] in ("", None, [], {}):
        del trimmed["default"]
    return trimmed


_TEXT_KINDS = frozenset({"text", "textarea", "richtext"})
# Stored values have any shape. The limit prevents a RecursionError.
_MAX_TEXT_DEPTH = 12


def words_of(props: type[ModuleProps] | None, values: object) -> Iterator[str]:
    """Yield all texts that a reader sees. Without a class, yield all strings."""
    if props is None or not isinstance(values, Mapping):
        yield from _any_text(values)
        return
    known = props_of(props)
    for name, value in values.items():
        prop = known.get(name)
        if prop is None or prop.kind in _TEXT_KINDS:
            yield from _any_text(value)
        elif prop.nested is not None:
            for item in value if isinstance(value, list) else [value]:
                yield from words_of(prop.nested, item)


def _any_text(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif depth > _MAX_TEXT_DEPTH:
        return
    elif isinstance(value, Mapping) and value.get("type") == "doc":
        if text := to_text(dict(value)):
            yield text
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _any_text(item, depth + 1)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _any_text(item, depth + 1)


_MAX_DEPTH: Final = 8
_ANY_KIND: Final = frozenset(get_args(FieldType))


def values_in(
    props: type[ModuleProps],
    values: object,
    kinds: frozenset[FieldType] = _ANY_KIND,
    depth: int = 0,
) -> Iterator[tuple[str, FieldType, object]]:
    """Yield for each value: the name of its top-level prop, the type of its field, and the value.

    Only values of the `kinds`. Items of lists are yielded one by one. Values that do not fit the definition are
    skipped.
    """
    if not isinstance(values, Mapping) or depth > _MAX_DEPTH:
        return
    for prop in _props_with(props, kinds):
        value = values.get(prop.name)
        for item in value if isinstance(value, list) else [value]:
            if prop.nested is None:
                yield prop.name, prop.kind, item
                continue
            for _, kind, inner in values_in(prop.nested, item, kinds, depth + 1):
                yield prop.name, kind, inner


@cache
def _props_with(props: type[ModuleProps], kinds: frozenset[FieldType]) -> Sequence[Prop]:
    """Return the props of these kinds, and the props with one of these kinds nested in them."""
    return [
        prop
        for prop in props_of(props).values()
        if (prop.kind in kinds if prop.nested is None else _has_below(prop.nested, kinds))
    ]


def _has_below(props: type[ModuleProps], kinds: frozenset[FieldType], depth: int = 0) -> bool:
    return depth <= _MAX_DEPTH and any(
        prop.kind in kinds if prop.nested is None else _has_below(prop.nested, kinds, depth + 1)
        for prop in props_of(props).values()
    )


def entries(props: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """Return the items of a repeater."""
    value = props.get(name)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(props: Mapping[str, Json], name: str) -> str:
    """Return a text without surrounding spaces; "" if there is none."""
    value = props.get(name)
    return value.strip() if isinstance(value, str) else ""


def picture(context: Mapping[str, object], id_: Json) -> Mapping[str, object] | None:
    """Return the image for templates; None if it was deleted."""
    return shown(context.get("media"), id_)


def recording(context: Mapping[str, object], id_: Json) -> Mapping[str, object] | None:
    """Return the video or audio file for templates; None if it was deleted, or is of another type."""
    return shown(getattr(context.get("media"), "recordings", {}), id_)


def shown(media: object, id_: Json) -> Mapping[str, object] | None:
    """Return the image from a mapping of images by id; None if it was deleted."""
    found = media.get(id_) if isinstance(media, Mapping) and isinstance(id_, str) else None
    return found if isinstance(found, Mapping) and safe_href(found.get("url")) else None
