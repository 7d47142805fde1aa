"""Invalid arguments of a tool, generated from its input schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

Schema = dict[str, Any]
MEGABYTE: Final = 1_000_000
WRONG: Final[dict[str, tuple[Any, ...]]] = {
    "string": (7, True, ["x"], {"x": 1}),
    "integer": ("many", True, 1.5, 10**400, [1], {}),
    "boolean": ("perhaps", 7, [], {}),
    "array": (7, True, {"x": 1}, "x"),
    "object": (7, True, ["x"], "x"),
}
"""Values of wrong types, by type."""


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"x": value}
    return value


def calls(schema: Schema, fitting: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a description and arguments: one error each in an otherwise valid call."""
    properties: dict[str, Schema] = schema["properties"]
    for name in schema.get("required", ()):
        yield f"{name} is missing", {key: fitting[key] for key in fitting if key != name}
        yield f"{name} is null", {**fitting, name: None}
    for name, said in properties.items():
        for wrong, value in _values(said):
            yield f"{name} is {wrong}", {**fitting, name: value}
    yield "an unknown key", {**fitting, "nonsense": 1}
    yield "a key with NUL", {**fitting, "non\x00sense": 1}
    yield "a key that is half a character", {**fitting, "\ud800": 1}
    yield "a key of a megabyte", {**fitting, "x" * MEGABYTE: 1}
    yield "a key of the object itself", {**fitting, "__class__": "x", "model_config": {}}


def _values(said: Schema) -> Iterator[tuple[str, Any]]:
    type_ = said.get("type")
    for value in WRONG.get(str(type_), ()):
        yield f"{type(value).__name__} {str(value)[:20]}", value
    yield "a NUL", _as(type_, "a\x00b")
    yield "half a character", _as(type_, "a\ud800b")
    yield "nested a hundred times", nested(100)
    yield "not a number", float("nan")
    if type_ == "string":
        yield "a megabyte", "x" * MEGABYTE
    if "enum" in said:
        yield "no word of the list", "publishd"
    if "minimum" in said:
        yield "too small", said["minimum"] - 1
    if "maximum" in said:
        yield "too large", said["maximum"] + 1


def _as(type_: str | None, text: str) -> Any:
    return {"array": [text], "object": {"x": text}}.get(str(type_), text)
