"""The schema of an answer: the fields the run may propose, each with its type, length and choices.

It names no post and no module of one, so that a provider's cache serves it for several runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, TypeVar, cast

from pydantic import create_model

from agents_app.definitions.field_keys import list_index
from agents_app.definitions.schema import Scope
from agents_app.runs.allowed_fields import AllowedFields
from agents_app.runs.field_target import FieldTarget
from agents_app.runs.suggestion import (
    MAX_DECLINED,
    MAX_SUGGESTION_SUMMARY,
    POST_KEYS,
    FieldSuggestion,
    Suggestion,
    output_type,
)
from content.document.changes import TERMS_PATH
from content.document.document import CUSTOM_PREFIX, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import find_post_type, modules

_TYPES: Final[Mapping[str, str]] = {"json": "object", "number": "number"}
_FOR_FORMS: Final = frozenset({"field", "translatable", "title", "default"})
"""Keys of a props schema that forms need and models do not."""
_SUMMARY: Final[JsonObject] = {
    "type": "string",
    "maxLength": MAX_SUGGESTION_SUMMARY,
    "description": "What was changed and why, for the editor, in one to three sentences.",
}
_DECLINED: Final[JsonObject] = {
    "type": "string",
    "maxLength": MAX_DECLINED,
    "description": "Instead of all else: why there is nothing that you can propose.",
}
_MAX_EDITS: Final = 100
M = TypeVar("M", Suggestion, FieldSuggestion)


def answer_type(
    scope: str,
    allowed: AllowedFields,
    document: PostDocument | None,
    target: FieldTarget | None = None,
) -> type[Suggestion] | type[FieldSuggestion]:
    """Return the class of an agent's answer in a run.

    Its schema contains only the fields the run may propose. The class also accepts the other forms
    of the specification: `module`, `overrides` and, for a field, `post` and `module`.
    """
    parts: dict[str, Json] = {}
    if output_type(scope) is FieldSuggestion:
        value = value_schema(document, target) if document and target else JsonObject()
        parts["value"] = {**value, "description": _joined("The new value.", value)}
        return _described(FieldSuggestion, {**parts, "summary": _SUMMARY, "declined": _DECLINED})
    if document is not None:
        post = _post_schema(allowed, document)
        edits = _module_schemas(allowed, document)
        if post is not None:
            parts["post"] = post
        if edits:
            item: JsonObject = edits[0] if len(edits) == 1 else {"anyOf": [*edits]}
            parts["modules"] = {"type": "array", "items": item, "maxItems": _MAX_EDITS}
    return _described(Suggestion, {**parts, "summary": _SUMMARY, "declined": _DECLINED})


def value_schema(document: PostDocument, target: FieldTarget) -> JsonObject:
    """Return the schema of a field's value; empty if the definition does not describe it."""
    name = target.path[0]
    module = target.module(document)
    if module is not None:
        definition = modules.get(module.type)
        here: Json = definition.props_schema() if definition is not None else None
        for part in target.path:
            if not isinstance(here, dict):
                return {}
            if list_index(part) is not None:
                here = here.get("items")
            else:
                properties = here.get("properties")
                here = properties.get(part) if isinstance(properties, dict) else None
        return model_schema(here) if isinstance(here, dict) else {}
    if name.startswith(CUSTOM_PREFIX):
        custom = _custom_fields(document).get(name.removeprefix(CUSTOM_PREFIX))
        return model_schema(custom) if isinstance(custom, dict) else {}
    return _post_field(name) if name in POST_FIELDS else {}


def model_schema(schema: JsonObject) -> JsonObject:
    """Return a schema of props for a model: rich text is Markdown, and what only forms need is left out."""
    if schema.get("field") == "richtext":
        return {"type": "string", "description": _joined("Markdown.", schema, skip="editor JSON")}
    lean: JsonObject = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            lean[key] = {
                name: model_schema(item) if isinstance(item, dict) else item
                for name, item in value.items()
            }
        elif key not in _FOR_FORMS:
            lean[key] = model_schema(value) if isinstance(value, dict) else value
    return lean


def _joined(sentence: str, schema: JsonObject, skip: str = "\0") -> str:
    """Return the sentence with the description of the schema."""
    description = schema.get("description")
    more = description if isinstance(description, str) and skip not in description else ""
    return f"{sentence} {more}".strip()


def _described(kind: type[M], parts: Mapping[str, Json]) -> type[M]:
    """Return the class with these properties as its schema."""

    def describe(schema: JsonObject) -> None:
        schema["properties"] = dict(parts)

    made: type[M] = create_model(
        kind.__name__,
        __base__=kind,
        __doc__=kind.__doc__,
        __cls_kwargs__={"json_schema_extra": describe},
    )
    return made


def _post_schema(allowed: AllowedFields, document: PostDocument) -> JsonObject | None:
    """Return the schema of the post fields that may be proposed."""
    properties: dict[str, Json] = {}
    for name in sorted(POST_KEYS & POST_FIELDS.keys()):
        if allowed.allows(f"post.{name}"):
            properties[name] = _post_field(name)
    if allowed.allows(TERMS_PATH):
        properties["taxonomyTermIds"] = {"type": "array", "items": {"type": "string"}}
    custom = {
        name: model_schema(cast(JsonObject, value))
        for name, value in _custom_fields(document).items()
        if allowed.allows(f"post.{CUSTOM_PREFIX}{name}")
    }
    if custom:
        properties["customFields"] = _object(custom)
    return _object(properties) if properties else None


def _custom_fields(document: PostDocument) -> JsonObject:
    schema = find_post_type(document.type).custom_fields_schema()
    return cast(JsonObject, schema["properties"])


def _post_field(name: str) -> JsonObject:
    declared = POST_FIELDS[name]
    type_ = _TYPES.get(declared.kind, "string")
    schema: JsonObject = {"type": [type_, "null"] if declared.is_nullable else type_}
    if declared.max_length is not None:
        schema["maxLength"] = declared.max_length
    return schema


def _module_schemas(allowed: AllowedFields, document: PostDocument) -> list[JsonObject]:
    """Return the schema of an edit for each type of module, with its allowed props."""
    # Translators write texts; the other props of a translation are copies of the source's.
    only_texts = bool(allowed.agent.entries(Scope.CREATE_TRANSLATION))
    schemas: list[JsonObject] = []
    for type_ in _module_types(allowed, document):
        definition = modules.get(type_)
        if definition is None:
            continue
        props = {
            name: model_schema(cast(JsonObject, value))
            for name, value in cast(JsonObject, definition.props_schema()["properties"]).items()
            if allowed.allows(f"module.{type_}.{name}")
            and not (only_texts and cast(JsonObject, value).get("translatable") is not True)
        }
        if props:
            id_ = {
                "type": "string",
                "description": f"The postModuleId of a module of type {type_}.",
            }
            edit = _object({"postModuleId": id_, "props": _object(props)})
            edit |= {"title": type_, "required": ["postModuleId", "props"]}
            schemas.append(edit)
    return schemas


def _module_types(allowed: AllowedFields, document: PostDocument) -> Collection[str]:
    """Return the types of modules in the schema, sorted.

    A list that names its types gives the same schema for all posts. The types of all modules would
    take about 3,000 tokens, so other lists give the types of the post.
    """
    named = {
        path.split(".")[1] for path in allowed.paths if path.startswith(("module.", "modules."))
    }
    if allowed.is_unlimited or "*" in named:
        return sorted({module.type for module in document.modules})
    return sorted(named)


def _object(properties: Mapping[str, Json]) -> JsonObject:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}
