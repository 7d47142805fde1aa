"""Rich text for tools: Markdown in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, cast

import orjson

from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, modules, props_of
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import is_document

_RICH_TEXT: Final = "Markdown, or the editor's JSON {type: doc, content: [...]}."


def present_value(value: Json, full: bool) -> Json:
    """Return a value for a model, with rich text as `{"markdown": …}` unless `full` is True."""
    if full:
        return value
    if is_document(value):
        return {"markdown": to_markdown(value)}
    if isinstance(value, dict):
        return {
            name: present_value(item, full)
            for name, item in value.items()
            if item not in (None, "")
        }
    if isinstance(value, list | tuple):
        return [present_value(item, full) for item in value]
    return value


def present_props(props: Mapping[str, Json], full: bool) -> JsonObject:
    """Return the props of a module for a model. The result is cached and must not be changed."""
    return dict(props) if full else _concise_props(orjson.dumps(props))


@lru_cache(maxsize=2_000)
def _concise_props(text: bytes) -> JsonObject:
    # Cached, because converting rich text to Markdown takes longer than reading the post.
    return cast("JsonObject", present_value(orjson.loads(text), full=False))


def tool_input_schema(schema: Json) -> Json:
    """Return a props schema for tools, where rich text may also be Markdown, which is shorter to write."""
    if isinstance(schema, list):
        return [tool_input_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("field") == "richtext":
        return {**schema, "description": _RICH_TEXT}
    return {name: tool_input_schema(item) for name, item in schema.items()}


def stored_props(type_name: str, values: Mapping[str, Json] | None) -> JsonObject | None:
    """Return props from a model with Markdown in rich-text props converted, from a string or the form of
    `present_value`.

    Invalid values are unchanged, so that validation refuses them with their path.
    """
    definition = modules.get(type_name)
    if values is None or definition is None:
        return None if values is None else dict(values)
    return _parse_props(definition.Props, values)


def _parse_props(props: type[ModuleProps], values: Mapping[str, Json]) -> JsonObject:
    known = props_of(props)
    return {
        name: _value(known[name].kind, known[name].nested, value) if name in known else value
        for name, value in values.items()
    }


def _value(kind: str, nested: type[ModuleProps] | None, value: Json) -> Json:
    if kind == "richtext":
        if isinstance(value, dict) and set(value) == {"markdown"}:
            value = value["markdown"]
        return from_markdown(value) if isinstance(value, str) else value
    if nested is None:
        return value
    if isinstance(value, list | tuple):
        return [_value(kind, nested, item) for item in value]
    return _parse_props(nested, value) if isinstance(value, dict) else value
