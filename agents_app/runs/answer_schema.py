"""The schema of an answer, limited to the fields the run may propose, with their types and lengths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar, cast

from pydantic import create_model

from agents_app.definitions.field_keys import field_of_key
from agents_app.runs.allowed_fields import AllowedFields
from agents_app.runs.field_target import FieldTarget
from agents_app.runs.suggestion import POST_KEYS, FieldSuggestion, Suggestion, output_type
from content.document.changes import TERMS_PATH
from content.document.document import CUSTOM_PREFIX, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import find_post_type, modules, props_of

_TYPES: Final[Mapping[str, str]] = {"json": "object", "number": "number"}
_MARKDOWN: Final[JsonObject] = {
    "type": "string",
    "description": "Markdown for the module's rich text, in place of that prop.",
}
M = TypeVar("M", Suggestion, FieldSuggestion)


def answer_type(
    scope: str,
    allowed: AllowedFields,
    document: PostDocument | None,
    target: FieldTarget | None = None,
) -> type[Suggestion] | type[FieldSuggestion]:
    """Return the class of an agent's answer in a run. Its schema contains only the fields the run may propose."""
    kind = output_type(scope)
    if allowed.is_unlimited:
        return kind
    post = _post_schema(allowed, document, target)
    edits = _module_schemas(allowed, document, target)
    if kind is FieldSuggestion:
        return _described(FieldSuggestion, _field_parts(post, edits, target))
    parts: dict[str, Json] = {"post": post, "module": None, "modules": None}
    if edits:
        edit: JsonObject = edits[0] if len(edits) == 1 else {"anyOf": edits}
        parts |= {"module": edit, "modules": {"type": "array", "items": edit, "maxItems": 100}}
    return _described(Suggestion, parts)


def _described(kind: type[M], parts: Mapping[str, Json]) -> type[M]:
    """Return the class with these parts of its schema replaced, and without parts that are None."""

    def describe(schema: JsonObject) -> None:
        properties = cast(JsonObject, schema["properties"])
        narrowed = {name: parts.get(name, part) for name, part in properties.items()}
        schema["properties"] = {name: part for name, part in narrowed.items() if part is not None}

    made: type[M] = create_model(
        kind.__name__,
        __base__=kind,
        __doc__=kind.__doc__,
        __cls_kwargs__={"json_schema_extra": describe},
    )
    return made


def _field_parts(
    post: JsonObject | None, edits: list[JsonObject], target: FieldTarget | None
) -> dict[str, Json]:
    """Return the schemas of the three forms of a field's new value."""
    parts: dict[str, Json] = {"post": post, "module": edits[0] if edits else None}
    values = post
    if edits:
        own = _properties(edits[0])
        values = cast(JsonObject, own.get("props") or own.get("overrides"))
    path = target.path if target is not None else ()
    name = path[0] if len(path) == 1 else ""  # a part of a prop has no schema of its own
    if name.startswith(CUSTOM_PREFIX) and values is not None:
        values = cast(JsonObject, _properties(values)["customFields"])
        name = name.removeprefix(CUSTOM_PREFIX)
    if name and values is not None:
        value = cast(JsonObject, _properties(values)[name])
        parts["value"] = {**value, "description": "The new value."}
    return parts


def _post_schema(
    allowed: AllowedFields, document: PostDocument | None, target: FieldTarget | None
) -> JsonObject | None:
    """Return the schema of the post fields that may be proposed; for a field run only its own."""
    only = (
        f"post.{'.'.join(target.path)}" if target is not None and target.module_id is None else ""
    )
    if target is not None and not only:
        return None

    def is_asked(field: str) -> bool:
        return allowed.allows(field) and only in ("", field)

    properties: dict[str, Json] = {}
    for name in sorted(POST_KEYS & POST_FIELDS.keys()):
        if is_asked(f"post.{name}"):
            properties[name] = _post_field(name)
    if is_asked(TERMS_PATH):
        properties["taxonomyTermIds"] = {"type": "array", "items": {"type": "string"}}
    if document is not None:
        schema = find_post_type(document.type).custom_fields_schema()
        custom = {
            name: value
            for name, value in cast(JsonObject, schema["properties"]).items()
            if is_asked(f"post.{CUSTOM_PREFIX}{name}")
        }
        if custom:
            properties["customFields"] = _object(custom)
    return _object(properties) if properties else None


def _post_field(name: str) -> JsonObject:
    declared = POST_FIELDS[name]
    type_ = _TYPES.get(declared.kind, "string")
    schema: JsonObject = {"type": [type_, "null"] if declared.is_nullable else type_}
    if declared.max_length is not None:
        schema["maxLength"] = declared.max_length
    return schema


def _module_schemas(
    allowed: AllowedFields, document: PostDocument | None, target: FieldTarget | None
) -> list[JsonObject]:
    """Return the schema of the edit of each module with its allowed props, grouped by type and scope."""
    found: dict[tuple[str, str], list[str]] = {}
    for module in document.modules if document is not None else ():
        if target is None or module.id == target.module_id:
            found.setdefault((module.type, module.scope), []).append(module.id)
    schemas: list[JsonObject] = []
    for (type_, scope), ids in found.items():
        definition = modules.get(type_)
        if definition is None:
            continue
        only = field_of_key(target.key) if target is not None else ""
        props = {
            name: value
            for name, value in cast(JsonObject, definition.props_schema()["properties"]).items()
            if allowed.allows(field := f"module.{type_}.{name}") and only in ("", field)
        }
        if not props:
            continue
        values = _object(props)
        edit: JsonObject = {"postModuleId": {"type": "string", "enum": [*ids]}}
        edit["props" if scope == "local" else "overrides"] = values
        texts = [
            prop.name for prop in props_of(definition.Props).values() if prop.kind == "richtext"
        ]
        if texts and texts[0] in props:
            edit["contentMarkdown"] = _MARKDOWN
        schemas.append({**_object(edit), "description": f"New props of a module of type {type_}."})
    return schemas


def _properties(schema: JsonObject) -> JsonObject:
    return cast(JsonObject, schema["properties"])


def _object(properties: Mapping[str, Json]) -> JsonObject:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}
