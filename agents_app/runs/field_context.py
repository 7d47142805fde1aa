"""What the payload of a field says around the field: the post's text, the field's neighbours, and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agents_app.definitions.field_keys import list_index
from agents_app.runs.answer_schema import value_schema
from agents_app.runs.field_target import FieldTarget, step_into
from agents_app.runs.markdown_texts import has_rich_text, text_of_post
from content.document.document import ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject

TEXT_KEY: Final = "text"
NEIGHBOURS_KEY: Final = "neighbours"
LIMITS_KEY: Final = "limits"
EXAMPLES_KEY: Final = "examples"
SYSTEM_KEYS: Final = (TEXT_KEY, NEIGHBOURS_KEY, LIMITS_KEY, EXAMPLES_KEY)
"""Keys of the context that the system sets. Callers' values under them are dropped."""
_MAX_SIBLINGS: Final = 20
_MAX_SIBLING_CHARACTERS: Final = 300


def field_context(document: PostDocument, target: FieldTarget) -> JsonObject:
    """Return the text, neighbours and limits of a field. One query if the post has global modules."""
    own_prop = None
    is_whole_prop = target.module_id is not None and len(target.path) == 1
    if is_whole_prop and has_rich_text(target.value(document)):
        # `field.currentValue` has the value itself.
        own_prop = (str(target.module_id), target.path[0])
    found: JsonObject = {TEXT_KEY: text_of_post(document, own_prop)}
    if neighbours := _neighbours(document, target):
        found[NEIGHBOURS_KEY] = neighbours
    return {**found, LIMITS_KEY: _limits(document, target)}


def _limits(document: PostDocument, target: FieldTarget) -> JsonObject:
    schema = value_schema(document, target)
    limits: JsonObject = {"fieldType": target.field_type}
    for name in ("maxLength", "minLength", "maxItems", "minimum", "maximum", "enum"):
        if name in schema:
            limits[name] = schema[name]
    declared = POST_FIELDS.get(target.path[0]) if target.module_id is None else None
    if declared is not None and declared.advised_length is not None:
        limits["advisedLength"] = declared.advised_length
    return limits


def _neighbours(document: PostDocument, target: FieldTarget) -> JsonObject:
    """Return the modules before and after that of the field, and the same part of the other items of its list.

    The other fields of a post stand in `draftBase`.
    """
    module = target.module(document)
    if module is None:
        return {}
    place = document.order.index(module.id)
    found: JsonObject = {
        "moduleBefore": _name(document.modules[place - 1]) if place > 0 else None,
        "moduleAfter": _name(document.modules[place + 1])
        if place + 1 < len(document.modules)
        else None,
    }
    if siblings := _siblings({**module.props, **module.overrides}, target.path):
        found["otherItems"] = siblings
    return found


def _name(module: ModuleDocument) -> str:
    return f"{module.type} {module.id}"


def _siblings(props: Mapping[str, Json], path: Sequence[str]) -> list[Json]:
    """Return the short texts at the same place in the other items of the innermost list."""
    at = next((n for n in range(len(path) - 1, -1, -1) if list_index(path[n]) is not None), None)
    here: Json = dict(props)
    for part in path[:at] if at is not None else ():
        here = step_into(here, part)
    if at is None or not isinstance(here, list):
        return []
    found: list[Json] = []
    for number, item in enumerate(here):
        for part in path[at + 1 :]:
            item = step_into(item, part)
        if number != list_index(path[at]) and isinstance(item, str) and item:
            found.append(item[:_MAX_SIBLING_CHARACTERS])
    return found[:_MAX_SIBLINGS]
