"""The arguments and answers of tools as lean JSON Schema.

Lean means few tokens: no titles, no `anyOf` with null for what may simply be left out, no `$ref`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pydantic import BaseModel

from proofroom.core.validation.json_schema import NULL, Schema, inline_schema

# Limits that a model rarely meets and the server names in its refusal: in the list they cost a tenth of it.
_LEFT_TO_THE_SERVER: Final = frozenset(
    {"maxLength", "maxItems", "minItems", "minLength", "minimum", "format"}
)


@lru_cache(maxsize=512)
def lean_schema(model: type[BaseModel]) -> Schema:
    """Return the input schema of an arguments class. Shared: callers must not change it."""
    schema = inline_schema(model, _trim)
    required = schema.get("required", ())
    # What a call needs comes first: models fill in what they read first.
    properties = schema.get("properties", {})
    schema["properties"] = dict(
        sorted(properties.items(), key=lambda item: item[0] not in required)
    )
    schema["additionalProperties"] = False
    return schema


@lru_cache(maxsize=512)
def result_schema(model: type[BaseModel]) -> Schema:
    """Return the output schema of a result class: open to further keys, so that an answer may grow."""
    return inline_schema(model, _trim, mode="serialization")


def _trim(node: Schema) -> Schema:
    kept = {
        key: value
        for key, value in node.items()
        if key not in ("title", "anyOf", *_LEFT_TO_THE_SERVER)
        and not (key == "additionalProperties" and isinstance(value, bool))
    }
    # A default that says no more than the absence of the key, or the order of its choices.
    default, unsaid = kept.get("default"), (None, False, "", [], {}, *kept.get("enum", ())[:1])
    # Told apart by type too: 0 is not False.
    if any(default == one and type(default) is type(one) for one in unsaid):
        kept.pop("default", None)
    choices = [choice for choice in node.get("anyOf", ()) if choice != NULL]
    if len(choices) == 1:
        return _trim({**choices[0], **kept})
    return {**kept, "anyOf": choices} if choices else kept
