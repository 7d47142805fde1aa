"""Example values for OpenAPI schemas, so that each operation of a document shows what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from proofroom.core.api.schema import JSON_TYPE, operations

_MAX_DEPTH: Final = 12
_SCHEMAS: Final = "#/components/schemas/"
_FORMATS: Final = {
    "uuid": "0b9d4c1e-3f52-4d0f-9a43-6f1f6c2a7e10",
    "date-time": "2026-05-03T08:00:00Z",
    "date": "2026-05-03",
    "email": "reader@example.com",
    "uri": "https://www.example.com/",
    "uri-reference": "/blog/first-crack",
}
_LINES: Final = {
    "text/csv": "title,url\nFirst crack,/blog/first-crack\n",
    "text/plain": "/first /blog/first-crack 301\n",
    "application/jsonl": '{"title": "First crack", "url": "/blog/first-crack"}\n',
    "application/xliff+xml": '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en"/>',
}
"""Texts by content type."""
_TEXTS: Final = {
    "url": "/blog/first-crack",
    "path": "/blog/first-crack",
    "slug": "first-crack",
    "title": "First crack",
    "locale": "en",
    "text": "First crack is a sound.",
    "href": "/blog/first-crack",
    "src": "https://www.example.com/media/roaster.jpg",
    "mime": "image/jpeg",
}
"""Texts by the name of their property."""


def add_examples(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add an example to the bodies and the successful answers of each operation that have none, but to files.

    A hook of drf-spectacular.
    """
    schemas = result["components"]["schemas"]
    for _path, _method, operation in operations(result):
        contents = [operation.get("requestBody", {}).get("content", {})]
        contents += [
            answer.get("content", {})
            for status, answer in operation["responses"].items()
            if status.startswith("2")
        ]
        for content in contents:
            media = content.get(JSON_TYPE)
            if media is not None and not media.keys() & {"example", "examples"}:
                media["example"] = example_of(media["schema"], schemas)
            for kind in content.keys() & _LINES.keys():
                content[kind].setdefault("example", _LINES[kind])
    return result


def remove_examples(document: dict[str, Any]) -> None:
    """Remove what `add_examples` added."""
    for _path, _method, operation in operations(document):
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for media in part.get("content", {}).values():
                media.pop("example", None)


def example_of(shape: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "") -> Any:
    """Return a valid value of a schema. `name`: the property that has the value."""
    return _example(shape, schemas, name, 0)


def _example(shape: Mapping[str, Any], schemas: Mapping[str, Any], name: str, depth: int) -> Any:
    if "$ref" in shape:
        target = str(shape["$ref"]).removeprefix(_SCHEMAS)
        return _example(schemas[target], schemas, name, depth + 1)
    for key in ("const", "example", "default"):
        if key in shape:
            return shape[key]
    if "enum" in shape:
        return shape["enum"][0]
    for choices in ("oneOf", "anyOf"):
        if choices in shape:
            beside = {key: shape[key] for key in ("pattern", "maxLength") if key in shape}
            return _example({**beside, **shape[choices][0]}, schemas, name, depth + 1)
    if "allOf" in shape:
        parts = [_example(part, schemas, name, depth + 1) for part in shape["allOf"]]
        merged: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, dict):
                return part
            merged |= part
        return merged
    kind = shape.get("type")
    if isinstance(kind, list):
        # Null ends what would repeat itself, and shows that a value can be absent.
        kind = "null" if depth > _MAX_DEPTH and "null" in kind else kind[0]
    match kind:
        case "object":
            return _object(shape, schemas, depth)
        case "array":
            if depth > _MAX_DEPTH and not shape.get("minItems"):
                return []
            return [_example(shape.get("items", {}), schemas, name, depth + 1)]
        case "integer" | "number":
            return max(shape.get("minimum", 1), min(1, shape.get("maximum", 1)))
        case "boolean":
            return True
        case "null":
            return None
        case "string":
            return _text(shape, name)
    return {}


def _object(shape: Mapping[str, Any], schemas: Mapping[str, Any], depth: int) -> dict[str, Any]:
    required = shape.get("required", ())
    made = {
        key: _example(value, schemas, key, depth + 1)
        for key, value in shape.get("properties", {}).items()
        if key in required or depth <= _MAX_DEPTH // 2
    }
    more = shape.get("additionalProperties")
    if isinstance(more, Mapping) and more and depth <= _MAX_DEPTH:
        key = _FORMATS["uuid"] if not made else "name"
        made[key] = _example(more, schemas, "", depth + 1)
    return made


def _text(shape: Mapping[str, Any], name: str) -> str:
    if shape.get("format") in _FORMATS:
        return _FORMATS[shape["format"]]
    text = _TEXTS.get(name, "Text")
    if "pattern" in shape:
        text = _TEXTS["path"] if str(shape["pattern"]).startswith("^/") else "name"
    return text[: shape.get("maxLength", len(text))].ljust(shape.get("minLength", 0), "x")
