"""The payload as the model reads it: rich text as Markdown, and each text once.

The keys of the specification stay. Rendering a rendered payload again changes nothing, because a
replay reads it from the transcript.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from agents_app.runs.field_context import TEXT_KEY
from agents_app.runs.markdown_texts import SEE_FIELD, SEE_TEXT, as_markdown, has_rich_text
from agents_app.runs.payloads import COPY_KEY
from content.document.post_fields import POST_FIELDS
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import modules, translatable_paths

SOURCE_KEY: Final = "source"
SAME_KEY: Final = "sameAsSource"
"""In the post and in each module of a translation: the source's texts that differ, and the names of
the texts that are still the source's.
"""
_SOURCE_OF: Final = "translationOf"
LAYERS: Final = (
    "props",
    "reviewProps",
    "aiReviewProps",
    "overrides",
    "reviewOverrides",
    "aiReviewOverrides",
)


def render_payload(payload: JsonObject) -> JsonObject:
    """Return the payload for the message to the model."""
    if payload.get("scope") == "field":
        payload = _field_once(_without_current_value(payload))
    elif isinstance(payload.get("modules"), list):
        payload = _with_sources(payload)
    return cast(JsonObject, as_markdown(payload))


def _without_current_value(payload: JsonObject) -> JsonObject:
    """Leave out of the context what is the field's value already."""
    context, field = _object(payload.get("context")), _object(payload.get("field"))
    if "currentValue" not in context or context["currentValue"] != field.get("currentValue"):
        return payload
    del context["currentValue"]
    return {**payload, "context": context}


def _field_once(payload: JsonObject) -> JsonObject:
    """Leave out of the field's module what `field.currentValue` and `context.text` contain."""
    module, field, context = (_object(payload.get(name)) for name in ("module", "field", "context"))
    if not module or TEXT_KEY not in context:
        return payload
    path = str(field.get("key")).split(".")[2:]
    once: JsonObject = dict(module)
    for layer in LAYERS:
        values = module.get(layer)
        if isinstance(values, dict):
            once[layer] = {
                name: _see(value, is_own=name == path[0], is_whole=len(path) == 1)
                for name, value in values.items()
            }
    schema = module.get("schema")
    if isinstance(schema, dict):
        properties = _object(schema.get("properties"))
        kept = {name: value for name, value in properties.items() if name == path[0]}
        once["schema"] = {"properties": kept}
    return {**payload, "module": once}


def _see(value: Json, *, is_own: bool, is_whole: bool) -> Json:
    if not has_rich_text(value) or (is_own and not is_whole):
        return value
    return SEE_FIELD if is_own else SEE_TEXT


def _with_sources(payload: JsonObject) -> JsonObject:
    """Put the source's texts of a translation beside its own, module by module."""
    context = _object(payload.get("context"))
    source = _object(context.get(_SOURCE_OF))
    if not isinstance(source.get("modules"), list):
        return payload
    rest: JsonObject = {name: source[name] for name in ("postId", "locale") if name in source}
    if "sourceValues" in context:
        # They are the source's texts of the fields that are asked for; others are not needed.
        return {**payload, "context": {**context, _SOURCE_OF: rest}}
    post = _object(payload.get("post"))
    own = [_object(module) for module in cast("list[Json]", payload["modules"])]
    of_source = [_object(module) for module in cast("list[Json]", source["modules"])]
    by_copy = _source_by_copy(own, of_source)
    texts = {name for name, field in POST_FIELDS.items() if field.translatable and field.is_text}
    source_post = _object(source.get("post"))
    # As paths, because a custom field can have any name.
    custom, source_custom = (
        {f"customFields.{name}": value for name, value in _object(one.get("customFields")).items()}
        for one in (post, source_post)
    )
    post = _beside(
        post, {**source_post, **source_custom}, texts | set(source_custom), {**post, **custom}
    )
    paired: list[Json] = [
        _beside(module, _props(other), translatable_paths(str(module["type"])), _props(module))
        if (other := by_copy.get(str(module["postModuleId"])))
        and modules.get(str(module["type"])) is not None
        else module
        for module in own
    ]
    used = {id(module) for module in by_copy.values()}
    others: list[Json] = [module for module in of_source if id(module) not in used]
    context = {**context, _SOURCE_OF: {**rest, "modulesWithoutTranslation": others}}
    return {**payload, "post": post, "modules": paired, "context": context}


def _source_by_copy(own: list[JsonObject], of_source: list[JsonObject]) -> Mapping[str, JsonObject]:
    """Return the source's modules by the id of the module that translates them.

    Modules whose origin is unknown are mapped by their type and their number of it.
    """
    ids = {str(module["postModuleId"]) for module in own}
    found = {str(one[COPY_KEY]): one for one in of_source if str(one.get(COPY_KEY)) in ids}
    left = [one for one in of_source if not any(one is other for other in found.values())]
    for module in own:
        id_ = str(module["postModuleId"])
        match = next((one for one in left if one["type"] == module["type"]), None)
        if id_ not in found and match is not None:
            found[id_] = match
            left.remove(match)
    return found


def _beside(
    own: JsonObject,
    source: Mapping[str, Json],
    names: set[str],
    values: Mapping[str, Json] | None = None,
) -> JsonObject:
    """Return an object with the source's texts that differ, and the names of the texts that are the same."""
    values = own if values is None else values
    texts = {name: source[name] for name in sorted(names & source.keys()) if source[name]}
    same: list[Json] = [name for name, text in texts.items() if values.get(name) == text]
    other = {name: text for name, text in texts.items() if values.get(name) != text}
    return {**own, SOURCE_KEY: other, SAME_KEY: same}


def _props(module: Mapping[str, Json]) -> JsonObject:
    return {**_object(module.get("props")), **_object(module.get("overrides"))}


def _object(value: Json) -> JsonObject:
    return dict(value) if isinstance(value, Mapping) else {}
