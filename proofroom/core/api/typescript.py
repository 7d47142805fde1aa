"""TypeScript types of an OpenAPI document: an exported type for each named schema, and two maps of its operations.

`Operations` has their types, `operations` their methods and paths, which a client needs when it runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from proofroom.core.api.schema import JSON_TYPE, operations

_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_TEXT: Final = re.compile(r"^text/|\b(xml|jsonl)\b")
_HEADER: Final = "// Generated from the definitions of the site. Changes here are lost."
_KINDS: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def typescript(document: Mapping[str, Any]) -> str:
    """Return the module of types of a document. The order is stable, so that it can be compared and committed."""
    parts = [_HEADER]
    for name, shape in sorted(document["components"]["schemas"].items()):
        parts.append(_exported(name, shape))
    parts.append("\n".join(_operations(document)))
    parts.append("\n".join(_addresses(document)))
    return "\n\n".join(parts) + "\n"


def type_of(shape: Mapping[str, Any] | bool, indent: int = 0) -> str:
    """Return the TypeScript type of a schema."""
    if isinstance(shape, bool) or not shape:
        return "unknown"
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2]
    if "const" in shape:
        return json.dumps(shape["const"])
    if "enum" in shape:
        return _union([json.dumps(value) for value in shape["enum"]])
    for key in ("oneOf", "anyOf"):
        if key in shape:
            return _union([type_of(part, indent) for part in shape[key]])
    if "allOf" in shape:
        return " & ".join(_grouped(type_of(part, indent)) for part in shape["allOf"])
    kind = shape.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return _union([_one_type(one, shape, indent) for one in kinds])


def _one_type(kind: str | None, shape: Mapping[str, Any], indent: int) -> str:
    if kind == "array":
        items = type_of(shape.get("items", {}), indent)
        return f"Array<{items}>" if " " in items else f"{items}[]"
    if kind == "object" or (kind is None and "properties" in shape):
        return _object(shape, indent)
    return _KINDS.get(kind or "", "unknown")


def _object(shape: Mapping[str, Any], indent: int) -> str:
    properties = shape.get("properties", {})
    more = shape.get("additionalProperties")
    if not properties:
        return f"Record<string, {type_of(more or {}, indent)}>"
    required = shape.get("required", ())
    margin = "  " * (indent + 1)
    lines = ["{"]
    for name, value in properties.items():
        lines += [f"{margin}{line}" for line in _comment(value)]
        key = name if _NAME.fullmatch(name) else json.dumps(name)
        sign = "" if name in required else "?"
        lines.append(f"{margin}{key}{sign}: {type_of(value, indent + 1)};")
    if isinstance(more, Mapping) and more:
        # Of any type, because TypeScript compares it with the named properties.
        lines.append(f"{margin}[name: string]: unknown;")
    return "\n".join([*lines, f"{'  ' * indent}}}"])


def _exported(name: str, shape: Mapping[str, Any]) -> str:
    # Other types are no interfaces: unions, intersections, records and plain values.
    is_object = shape.get("type") == "object" and bool(shape.get("properties"))
    head = f"interface {name} " if is_object else f"type {name} = "
    return "\n".join([*_comment(shape), f"export {head}{type_of(shape)}{'' if is_object else ';'}"])


def _comment(shape: Mapping[str, Any] | bool) -> list[str]:
    text = "" if isinstance(shape, bool) else " ".join(str(shape.get("description", "")).split())
    return [f"/** {text.replace('*/', '* /')} */"] if text else []


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the interface `Operations`: for each operation its method, path, query, body and answer."""
    yield "/** Each operation by its id. */"
    yield "export interface Operations {"
    for path, method, operation in sorted(
        operations(dict(document)), key=lambda one: str(one[2]["operationId"])
    ):
        body = operation.get("requestBody", {}).get("content", {}).get(JSON_TYPE, {}).get("schema")
        yield f"  {operation['operationId']}: {{"
        yield f"    method: {json.dumps(method.upper())};"
        yield f"    path: {json.dumps(path)};"
        yield f"    parameters: {_parameters(operation, 'path')};"
        yield f"    query: {_parameters(operation, 'query')};"
        yield f"    body: {type_of(body, 2) if body is not None else 'undefined'};"
        yield f"    answer: {_answer(operation)};"
        yield "  };"
    yield "}"


def _addresses(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the constant `operations`."""
    yield "/** Method and path of each operation. */"
    yield "export const operations = {"
    for path, method, operation in sorted(
        operations(dict(document)), key=lambda one: str(one[2]["operationId"])
    ):
        address = f"method: {json.dumps(method.upper())}, path: {json.dumps(path)}"
        yield f"  {operation['operationId']}: {{ {address} }},"
    yield "} as const;"


def _parameters(operation: Mapping[str, Any], place: str) -> str:
    found = [item for item in operation.get("parameters", ()) if item["in"] == place]
    if not found:
        return "Record<string, never>"
    shape = {
        "type": "object",
        "properties": {item["name"]: item["schema"] for item in found},
        "required": [item["name"] for item in found if item.get("required")],
    }
    return _object(shape, 2)


def _answer(operation: Mapping[str, Any]) -> str:
    answers = [
        answer["content"]
        for status, answer in operation["responses"].items()
        if status.startswith("2") and "content" in answer
    ]
    shapes = [content[JSON_TYPE]["schema"] for content in answers if JSON_TYPE in content]
    if shapes:
        return _union([type_of(shape, 2) for shape in shapes])
    if not answers:
        return "undefined"
    kinds = [kind for content in answers for kind in content]
    return _union(["string" if _TEXT.search(kind) else "Blob" for kind in kinds])


def _union(types: list[str]) -> str:
    distinct = list(dict.fromkeys(types))
    return " | ".join(distinct)


def _grouped(text: str) -> str:
    return f"({text})" if " | " in text and not text.startswith("{") else text
