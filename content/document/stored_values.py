"""Values of changes as JSON, for rows that store a proposal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from content.document.changes import ABSENT, Value
from content.document.document import ModuleDocument
from proofroom.core.json import Json, JsonObject


def value_to_json(value: Value) -> JsonObject:
    """Return `{"is": "absent" | "module" | "terms" | "plain", "value": …}`."""
    if value is ABSENT:
        return {"is": "absent"}
    if isinstance(value, ModuleDocument):
        return {"is": "module", "value": value.to_json(0)}
    kind = "terms" if isinstance(value, tuple) else "plain"
    return {"is": kind, "value": cast(Json, value)}


def value_from_json(value: Mapping[str, Json]) -> Value:
    """Parse the result of `value_to_json`."""
    if value["is"] == "absent":
        return ABSENT
    if value["is"] == "module":
        return ModuleDocument.from_json(cast(JsonObject, value["value"]))
    if value["is"] == "terms":
        return tuple(cast("Sequence[str]", value["value"]))
    return value["value"]


def stored_size(value: Json) -> int:
    """Return the number of bytes of the value as stored."""
    # Text can contain lone surrogates, which strict UTF-8 refuses.
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
