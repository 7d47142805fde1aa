"""Describes a class of props: its fields by wire name, and its JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast, get_args

from pydantic.fields import FieldInfo

from proofroom.core.json import JsonObject
from proofroom.core.validation.json_schema import NULL, Schema, inline_schema
from proofroom.definitions.fields import FieldType, ModuleProps


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
    return {
        prop.name: prop for prop in (_prop(props, *item) for item in props.model_fields.items())
    }


def _prop(props: type[ModuleProps], name: str, info: FieldInfo) -> Prop:
    extra = info.json_schema_extra
    if not isinstance(extra, dict) or "field" not in extra:
        raise TypeError(
            f"{props.__module__}.{props.__qualname__}.{name} needs a field function, such as Text()"
        )
    return Prop(
        name=info.alias or name,
        label=info.title or name.replace("_", " ").capitalize(),
        kind=cast("FieldType", extra["field"]),
        translatable=bool(extra["translatable"]),
        nested=_nested_class(info.annotation),
    )


def option_label(value: object) -> str:
    """Return what people read for a value to choose from; pages say it in the reader's language."""
    return str(value).replace("-", " ").capitalize()


def _nested_class(annotation: object) -> type[ModuleProps] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, ModuleProps):
            return candidate
    return None


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
