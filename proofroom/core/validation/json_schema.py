"""JSON Schema of pydantic classes without superfluous keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

Schema = dict[str, Any]
NULL: Final[Schema] = {"type": "null"}


class PlainJsonSchema(GenerateJsonSchema):
    """A generator without titles of fields and without null defaults."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Schema:
        made = super().default_schema(schema)
        if made.get("default", 0) is None:
            del made["default"]
        return made


def inline_schema(
    model: type[BaseModel], trim: Callable[[Schema], Schema], *, mode: JsonSchemaMode = "validation"
) -> Schema:
    """Return the schema of a class without references. `trim` is applied to each node.

    A recursive class is expanded until it repeats.
    """
    full = model.model_json_schema(mode=mode, schema_generator=PlainJsonSchema)
    definitions = full.pop("$defs", {})
    full.pop("description", None)
    return _inline(full, definitions, trim, ())


def _inline(
    node: Schema,
    definitions: Mapping[str, Schema],
    trim: Callable[[Schema], Schema],
    seen: tuple[str, ...],
) -> Schema:
    node = trim(node)
    while "$ref" in node:
        name = str(node.pop("$ref")).removeprefix("#/$defs/")
        target = {"type": "object"} if name in seen else {**definitions[name]}
        target.pop("description", None)
        node, seen = trim({**target, **node}), (*seen, name)

    def inline(value: Any) -> Any:
        return _inline(value, definitions, trim, seen) if isinstance(value, dict) else value

    # Only keys that contain schemas: a property may be named "title" or "default", and a default
    # may be any value.
    if "properties" in node:
        node["properties"] = {name: inline(value) for name, value in node["properties"].items()}
    for key in {"items", "additionalProperties"} & node.keys():
        node[key] = inline(node[key])
    for key in {"anyOf", "oneOf", "allOf", "prefixItems"} & node.keys():
        node[key] = [inline(value) for value in node[key]]
    return node
