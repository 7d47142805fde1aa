"""Props of a class by wire name, their JSON Schema, and reading stored values, which may be older than the class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, cast, get_args

from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.json_schema import NULL, Schema, inline_schema
from proofroom.definitions.fields import FieldType, ModuleProps
from proofroom.definitions.richtext.links import safe_href
from proofroom.definitions.richtext.nodes import to_text


@dataclass(frozen=True, slots=True)
class Prop:
    """One field: its wire name, field type, and for `object` and `repeater` the nested class."""

    name: str
    label: str
    kind: FieldType
    translatable: bool
    nested: type[ModuleProps] | None


@cache
def props_of(props: type[ModuleProps]) -> dict[str, Prop]:
    """The fields of a class of props by wire name, in the order of the file.

    Raises `TypeError` for a field that was not made by a field function.
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
        )
    return found


def defaults(props: type[ModuleProps]) -> JsonObject:
    """A new dict of the defaults, as JSON."""
    return cast("JsonObject", props().model_dump(mode="json", by_alias=True))


def option_label(value: object) -> str:
    """Return what people read for a value to choose from; pages say it in the reader's language."""
    return str(value).replace("-", " ").capitalize()


def json_schema(props: type[ModuleProps]) -> JsonObject:
    """JSON Schema 2020-12 without references, invented titles, `anyOf` for null, empty defaults."""
    props_of(props)
    return cast("JsonObject", inline_schema(props, _trim))


def _trim(node: Schema) -> Schema:
    options = node.get("anyOf", [])
    choices = [option for option in options if option != NULL]
    if len(choices) == 1 < len(options):
        # `X | null` is one node whose type is a list.
        node = {**choices[0], **node, "type": [choices[0]["type"], "null"]}
        del node["anyOf"]
    trimmed = {**node}
    if "properties" in node:
        trimmed.pop("title", None)
        if "field" not in node:
            trimmed.pop("description", None)
    if node.get("field") == "richtext":
        trimmed["type"] = ["string", "object"]
    if node.get("additionalProperties") is True:
        del trimmed["additionalProperties"]
    if "default" in node and node["default"] in ("", None, [], {}):
        del trimmed["default"]
    return trimmed


_READABLE = frozenset({"text", "textarea", "richtext"})
_MAX_DEPTH_OF_TEXT = 12


def words_of(props: type[ModuleProps] | None, values: object) -> Iterator[str]:
    """Every text that a reader sees. Without a class, every string."""
    if props is None or not isinstance(values, Mapping):
        yield from _any_text(values)
        return
    known = props_of(props)
    for name, value in values.items():
        prop = known.get(name)
        if prop is None or prop.kind in _READABLE:
            yield from _any_text(value)
        elif prop.nested is not None:
            for item in value if isinstance(value, list) else [value]:
                yield from words_of(prop.nested, item)


def _any_text(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif depth > _MAX_DEPTH_OF_TEXT:
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


_DEEPEST: Final = 8


def values_in(
    props: type[ModuleProps], values: object, depth: int = 0
) -> Iterator[tuple[str, FieldType, object]]:
    """Each value: the name of the prop that it stands in or under, the type of its own field, the value.

    Of a list each item. What is stored can be older than the definition: what does not fit is passed over.
    """
    if not isinstance(values, Mapping) or depth > _DEEPEST:
        return
    for prop in props_of(props).values():
        value = values.get(prop.name)
        for item in value if isinstance(value, list) else [value]:
            if prop.nested is None:
                yield prop.name, prop.kind, item
                continue
            for _, kind, inner in values_in(prop.nested, item, depth + 1):
                yield prop.name, kind, inner


def entries(props: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """The items of a repeater."""
    value = props.get(name)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(props: Mapping[str, Json], name: str) -> str:
    """A text without the spaces around it; "" for none."""
    value = props.get(name)
    return value.strip() if isinstance(value, str) else ""


def picture(context: Mapping[str, object], id_: Json) -> Mapping[str, object] | None:
    """The picture as templates show it; None for one that is gone."""
    return shown(context.get("media"), id_)


def shown(media: object, id_: Json) -> Mapping[str, object] | None:
    """The same of a mapping of pictures."""
    found = media.get(id_) if isinstance(media, Mapping) and isinstance(id_, str) else None
    return found if isinstance(found, Mapping) and safe_href(found.get("url")) else None
