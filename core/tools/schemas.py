"""The arguments and answers of tools as lean JSON Schema.

Lean means few tokens: no generated titles, no `anyOf` with null for what may simply be left out, no
`$ref`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

# Limits that a model rarely meets and the server names in its refusal: in the list they cost a tenth of it.
_LEFT_TO_THE_SERVER = frozenset(
    {"maxLength", "maxItems", "minItems", "minLength", "minimum", "format"}
)


@lru_cache(maxsize=512)
def lean_schema(model: type[BaseModel]) -> Schema:
    """The input schema of an arguments class. Shared: callers must not change it."""
    full = model.model_json_schema(by_alias=True)
    definitions = full.pop("$defs", {})
    full.pop("description", None)
    schema = _lean_object(full, definitions, ())
    schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    return schema


@lru_cache(maxsize=512)
def result_schema(model: type[BaseModel]) -> Schema:
    """The output schema of a result class: open to further keys, so that an answer may grow."""
    full = model.model_json_schema(by_alias=True, mode="serialization")
    definitions = full.pop("$defs", {})
    full.pop("description", None)
    return _lean_object(full, definitions, ())


def _lean(node: Any, definitions: Mapping[str, Schema], seen: tuple[str, ...]) -> Any:
    if isinstance(node, Mapping):
        return _lean_object(node, definitions, seen)
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [_lean(item, definitions, seen) for item in node]
    return node


def _lean_object(
    node: Mapping[str, Any], definitions: Mapping[str, Schema], seen: tuple[str, ...]
) -> Schema:
    own = {key: value for key, value in node.items() if key not in ("title", "$ref", "anyOf")}
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in seen:  # a definition that holds itself: the server checks the inner levels
            return {"type": "object", **_lean_object(own, definitions, seen)}
        target = {key: value for key, value in definitions[name].items() if key != "description"}
        return _lean_object({**target, **own}, definitions, (*seen, name))
    choices = [choice for choice in node.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        return _lean_object({**choices[0], **_without_null(own)}, definitions, seen)
    result: Schema = {}
    for key, value in _without_null(own).items():
        if key in _LEFT_TO_THE_SERVER or (
            key == "additionalProperties" and isinstance(value, bool)
        ):
            continue
        if key == "properties":
            result[key] = {name: _lean(item, definitions, seen) for name, item in value.items()}
        elif key in ("default", "enum", "const", "examples", "required"):
            result[key] = value
        else:
            result[key] = _lean(value, definitions, seen)
    if choices:
        result["anyOf"] = [_lean(choice, definitions, seen) for choice in choices]
    return result


def _without_null(node: Mapping[str, Any]) -> dict[str, Any]:
    """The node without a default that says no more than the absence of the key, or the order of its choices."""
    first = node["enum"][:1] if "enum" in node else []
    unsaid = (None, False, "", [], {}, *first)
    return {k: v for k, v in node.items() if not (k == "default" and _is_one_of(v, unsaid))}


def _is_one_of(value: object, known: Sequence[object]) -> bool:
    return any(value == one and type(value) is type(one) for one in known)
