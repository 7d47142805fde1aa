"""From the raw arguments of a call to the tool's own class, or to a text that says how to mend the
call."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.tools.registry import Tool
from proofroom.core.tools.schemas import lean_schema
from proofroom.core.validation.errors import error_path, reason_of, shorten_key
from proofroom.core.validation.input_validation import refuse_unstorable
from proofroom.core.validation.json_schema import Schema

MAX_VALUE_SHOWN = 60
MAX_ERRORS_SHOWN = 12


def parse_arguments(tool: Tool[BaseModel], raw: Mapping[str, Any]) -> BaseModel:
    """The tool's arguments. Raises `RuleViolation` (`invalid_arguments`) with the whole lesson as
    its message."""
    found = _read(tool, raw)
    if isinstance(found, BaseModel):
        return found
    raise _lesson(tool, [sentence for _, sentence in found])


def argument_errors(tool: Tool[BaseModel], raw: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what of the arguments is wrong, by path; empty where `parse_arguments` would take them."""
    found, errors = _read(tool, raw), dict[str, list[str]]()
    for path, sentence in [] if isinstance(found, BaseModel) else found:
        errors.setdefault(path, []).append(sentence)
    return errors


def _read(tool: Tool[BaseModel], raw: Mapping[str, Any]) -> BaseModel | list[tuple[str, str]]:
    """The arguments, or where something is wrong and what."""
    schema = lean_schema(tool.arguments)
    try:
        # Raise `RuleViolation` on a boolean where a number is asked for: pydantic would read it as 0 or 1.
        for name, value in raw.items():
            if (
                isinstance(value, bool)
                and schema["properties"].get(name, {}).get("type") == "integer"
            ):
                raise invalid(name, f"{name} must be an integer; got {value}.")
        opened = _opened(raw, schema)
        refuse_unstorable(opened)
        return tool.arguments.model_validate(opened, extra="forbid")
    except RuleViolation as error:
        path = next(iter(error.details))
        return [
            (
                next(iter(error.details)),
                (f"`{path}`{error.message.removeprefix(path)} Leave it out or write it otherwise."),
            )
        ]
    except ValidationError as error:
        errors = error.errors(include_url=False)
    found = [
        (error_path(item["loc"], root="arguments"), _sentence(item, schema))
        for item in errors[:MAX_ERRORS_SHOWN]
    ]
    if len(errors) > MAX_ERRORS_SHOWN:
        found.append(("arguments", f"and {len(errors) - MAX_ERRORS_SHOWN} more"))
    return found


def _lesson(tool: Tool[BaseModel], sentences: list[str]) -> RuleViolation:
    lines = [f"- {sentence}" for sentence in sentences]
    return RuleViolation(
        "\n".join([f"Invalid arguments for {tool.name}:", *lines, f"Signature: {signature(tool)}"]),
        code="invalid_arguments",
    )


def signature(tool: Tool[BaseModel]) -> str:
    """`list_posts(q?, limit?)`: the names, a question mark where one may be left out."""
    schema = lean_schema(tool.arguments)
    required = schema.get("required", ())
    names = [name if name in required else f"{name}?" for name in schema["properties"]]
    return f"{tool.name}({', '.join(names)})"


def nearest(word: str, known: list[str]) -> str | None:
    """The known name that the word most likely meant."""
    found = get_close_matches(word, known, n=1, cutoff=0.6)
    if found:
        return found[0]
    lowered = {name.lower(): name for name in known}
    found = get_close_matches(word.lower().replace("_", ""), list(lowered), n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def _opened(raw: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Some clients send an object or a list as a string of JSON: open it where a string would be
    wrong. Raises `RuleViolation` on an argument that was meant so and cannot be read."""
    opened = dict(raw)
    for name, value in raw.items():
        wanted = schema["properties"].get(name, {}).get("type")
        if wanted not in ("object", "array") or not isinstance(value, str):
            continue
        try:
            parsed = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            if value.lstrip()[:1] in ("{", "["):
                raise invalid(name, f"{name} is not valid JSON: {error}.") from None
            continue
        if isinstance(parsed, dict if wanted == "object" else list):
            opened[name] = parsed
    return opened


def _sentence(error: ErrorDetails, schema: Schema) -> str:
    location, path = error["loc"], error_path(error["loc"], root="arguments")
    if error["type"] == "extra_forbidden":
        known = _known_names(schema, location[:-1])
        guess = nearest(shorten_key(location[-1]), known)
        hint = f"did you mean `{guess}`?" if guess else f"known: {', '.join(known) or 'none'}"
        return f"unknown argument `{path}`; {hint}"
    if error["type"] == "missing":
        return f"`{path}` is required"
    message = reason_of(error)
    if error["type"] in ("uuid_parsing", "uuid_type"):
        message = "an id (a UUID) is wanted, as the lists answer it"
    shown = repr(error["input"])
    if len(shown) > MAX_VALUE_SHOWN:
        shown = shown[: MAX_VALUE_SHOWN - 1] + "…"
    return f"`{path}`: {message[:1].lower()}{message[1:]}; got {shown}"


def _known_names(schema: Schema, location: tuple[int | str, ...]) -> list[str]:
    node: Schema = schema
    for part in location:
        inner = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part)
        if not isinstance(inner, dict):
            return []
        node = inner
    return list(node.get("properties", {}))
