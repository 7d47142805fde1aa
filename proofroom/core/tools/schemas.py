"""Arguments and results of tools as lean JSON Schema.

Lean means few tokens: no titles, no `anyOf` with null for optional values, no `$ref`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pydantic import BaseModel

from proofroom.core.validation.json_schema import NULL, Schema, inline_schema

# Limits that models rarely exceed, and that errors mention anyway. They would be a tenth of the
# list of tools.
_OMITTED_LIMITS: Final = frozenset(
    {"maxLength", "maxItems", "minItems", "minLength", "minimum", "format"}
)


@lru_cache(maxsize=512)
def lean_schema(model: type[BaseModel]) -> Schema:
    """Return the input schema of an arguments class. Cached: callers must not change it."""
    schema = inline_schema(model, _trim)
    required = schema.get("required", ())
    # Required arguments first, because models fill in arguments in the order of the schema.
    properties = schema.get("properties", {})
    schema["properties"] = dict(
        sorted(properties.items(), key=lambda item: item[0] not in required)
    )
    schema["additionalProperties"] = False
    return schema


@lru_cache(maxsize=512)
def result_schema(model: type[BaseModel]) -> Schema:
    """Return the output schema of a result class. Further keys are allowed, so that results can grow.

    Rows of lists promise only their first key, because `fields` leaves out others.
    """
    schema = inline_schema(model, _trim, mode="serialization")
    if getattr(model, "has_narrow_rows", False):
        row = schema["properties"]["items"].get("items", {})
        if row.get("required"):
            row["required"] = row["required"][:1]
    return schema


def row_fields(model: type[BaseModel]) -> list[str]:
    """Return the keys of a list's rows. The first one identifies a row."""
    row = result_schema(model)["properties"]["items"].get("items", {})
    return list(row.get("properties", {}))


def _trim(node: Schema) -> Schema:
    trimmed = {
        key: value
        for key, value in node.items()
        if key not in ("title", "anyOf", *_OMITTED_LIMITS)
        and not (key == "additionalProperties" and isinstance(value, bool))
    }
    # Defaults without information: an empty value, or the first choice.
    default, redundant = (
        trimmed.get("default"),
        (None, False, "", [], {}, *trimmed.get("enum", ())[:1]),
    )
    # Compare types, too: 0 equals False.
    if any(default == one and type(default) is type(one) for one in redundant):
        trimmed.pop("default", None)
    choices = [choice for choice in node.get("anyOf", ()) if choice != NULL]
    if len(choices) == 1:
        return _trim({**choices[0], **trimmed})
    return {**trimmed, "anyOf": choices} if choices else trimmed
