"""What a class of props looks like from outside: its fields by wire name, and its JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast, get_args

from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from content.definitions.fields import FieldType, ModuleProps
from core.json import Json, JsonObject


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
    """What people read for a value to choose from; pages say it in the reader's language."""
    return str(value).replace("-", " ").capitalize()


def _nested_class(annotation: object) -> type[ModuleProps] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, ModuleProps):
            return candidate
    return None


class _Lean(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def json_schema(props: type[ModuleProps]) -> JsonObject:
    """JSON Schema 2020-12 without references, invented titles, `anyOf` for null, empty defaults."""
    props_of(props)
    raw = props.model_json_schema(by_alias=True, schema_generator=_Lean)
    definitions = raw.pop("$defs", {})
    return cast("JsonObject", _lean(raw, definitions))


def _lean(node: object, definitions: dict[str, object]) -> Json:
    if isinstance(node, list):
        return [_lean(item, definitions) for item in node]
    if not isinstance(node, dict):
        return cast("Json", node)
    node = {**node}
    if "$ref" in node:
        target = definitions[str(node.pop("$ref")).removeprefix("#/$defs/")]
        node = {**cast("dict[str, object]", target), **node}
    if isinstance(options := node.get("anyOf"), list):
        node = _without_any_of(node, options)
    if "properties" in node:
        node.pop("title", None)
        node.pop("description", None) if "field" not in node else None
    if node.get("field") == "richtext":
        node["type"] = ["string", "object"]
    if node.get("additionalProperties") is True:
        del node["additionalProperties"]
    if "default" in node and node["default"] in ("", None, [], {}):
        del node["default"]
    if isinstance(properties := node.get("properties"), dict):
        # Names of properties are not schema keywords: a prop may be called "title" or "default".
        node["properties"] = {key: _lean(value, definitions) for key, value in properties.items()}
    if "items" in node:
        node["items"] = _lean(node["items"], definitions)
    return cast("Json", node)


def _without_any_of(node: dict[str, object], options: list[object]) -> dict[str, object]:
    """`X | null` as one node whose type is a list."""
    kept = [option for option in options if option != {"type": "null"}]
    if len(kept) != 1 or len(options) != 2 or not isinstance(kept[0], dict):
        return node
    flat = {key: value for key, value in node.items() if key != "anyOf"}
    return {**kept[0], **flat, "type": [kept[0]["type"], "null"]}
