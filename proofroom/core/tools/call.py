"""Calls of tools: parsing of raw arguments, execution, and error texts that explain how to correct a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeGuard, get_args, get_origin
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotFound, RuleViolation, invalid
from proofroom.core.tools.registry import Tool, all_tools, get_tool
from proofroom.core.tools.schemas import lean_schema
from proofroom.core.validation.errors import error_path, list_errors, reason_of, shorten_key
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.core.validation.json_schema import Schema

MAX_VALUE_SHOWN = 60
MAX_ERRORS_SHOWN = 12


def parse_arguments(tool: Tool[BaseModel], raw: Mapping[str, Any]) -> BaseModel:
    """Parse the tool's arguments. Raises `RuleViolation` (`invalid_arguments`) with all errors in its message."""
    found = _read(tool, raw)
    if isinstance(found, BaseModel):
        return found
    lines = [f"- {sentence}" for _, sentence in found]
    raise RuleViolation(
        "\n".join([f"Invalid arguments for {tool.name}:", *lines, f"Signature: {signature(tool)}"]),
        code="invalid_arguments",
    )


def argument_errors(tool: Tool[BaseModel], raw: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the errors of the arguments by path; empty if `parse_arguments` accepts them."""
    found, errors = _read(tool, raw), dict[str, list[str]]()
    for path, sentence in [] if isinstance(found, BaseModel) else found:
        errors.setdefault(path, []).append(sentence)
    return errors


def _read(tool: Tool[BaseModel], raw: Mapping[str, Any]) -> BaseModel | list[tuple[str, str]]:
    """Return the parsed arguments, or the errors as pairs of path and sentence."""
    schema = lean_schema(tool.arguments)
    try:
        # Refuse a boolean for an integer: pydantic would read it as 0 or 1.
        for name, value in raw.items():
            if (
                isinstance(value, bool)
                and schema["properties"].get(name, {}).get("type") == "integer"
            ):
                raise invalid(name, f"{name} must be an integer; got {value}.")
        given = drop_omitted(tool.arguments, _parse_json_strings(raw, schema))
        reject_unstorable(given)
        return tool.arguments.model_validate(given, extra="forbid")
    except RuleViolation as error:
        path = next(iter(error.details))
        return [
            (
                next(iter(error.details)),
                (f"`{path}`{error.message.removeprefix(path)} Leave it out or write it otherwise."),
            )
        ]
    except ValidationError as error:
        found = list_errors(
            error,
            lambda item: _error_sentence(item, schema),
            root="arguments",
            limit=MAX_ERRORS_SHOWN,
        )
        more = error.error_count() - MAX_ERRORS_SHOWN
    return [*found, ("arguments", f"and {more} more")] if more > 0 else found


def signature(tool: Tool[BaseModel]) -> str:
    """Return the tool's signature, like `list_posts(q?, limit?)`. Optional arguments have a question mark."""
    schema = lean_schema(tool.arguments)
    required = schema.get("required", ())
    names = [name if name in required else f"{name}?" for name in schema["properties"]]
    return f"{tool.name}({', '.join(names)})"


def nearest(word: str, known: list[str]) -> str | None:
    """Return the known name most similar to the word."""
    found = get_close_matches(word, known, n=1, cutoff=0.6)
    if found:
        return found[0]
    lowered = {name.lower(): name for name in known}
    found = get_close_matches(word.lower().replace("_", ""), list(lowered), n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def drop_omitted(model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Remove null and empty values that a client sent for omitted arguments.

    Only for optional arguments, including those in nested objects. The content of objects without declared keys
    stays. An empty text stays if the argument is a text.
    """
    fields = _fields_by_name(model)
    given: dict[str, Any] = {}
    for name, value in raw.items():
        field = fields.get(name)
        if field is None:
            given[name] = value
            continue
        if not field.is_required() and (
            value is None or (value == "" and not _takes_text(name, field.annotation))
        ):
            continue
        given[name] = _without_absent_within(field.annotation, value)
    return given


@cache
def _fields_by_name(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the offered fields of `model` by their names and aliases."""
    offered = lean_schema(model)["properties"]
    fields = {}
    for name, field in model.model_fields.items():
        if (field.alias or name) in offered:
            fields[name] = fields[field.alias or name] = field
    return fields


def _without_absent_within(annotation: object, value: Any) -> Any:
    model = next((kind for kind in _kinds_in(annotation) if _is_model(kind)), None)
    if model is None:
        return value
    if isinstance(value, list):
        return [_without_absent_within(annotation, item) for item in value]
    return drop_omitted(model, value) if isinstance(value, dict) else value


def _takes_text(name: str, annotation: object) -> bool:
    """Return whether an empty text can be a value. Ids, references to posts and choices are never empty."""
    if name in ("id", "post") or name.endswith(("Id", "_id")):
        return False
    kinds = list(_kinds_in(annotation, within_lists=False))
    return any(not isinstance(kind, type) or issubclass(kind, str) for kind in kinds)


def _kinds_in(annotation: object, *, within_lists: bool = True) -> Iterator[object]:
    """Yield the types that a value may have, including the types of list items."""
    origin = get_origin(annotation)
    if origin is Literal:
        yield from {type(choice) for choice in get_args(annotation) if choice != ""} - {str}
    elif origin is dict or (origin is list and not within_lists):
        yield origin
    elif origin is Annotated:
        yield from _kinds_in(get_args(annotation)[0], within_lists=within_lists)
    elif origin is None:
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _kinds_in(part, within_lists=within_lists)


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _parse_json_strings(raw: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Parse objects and lists that a client sent as JSON strings, unless the argument is a string.

    Raises `RuleViolation` for invalid JSON.
    """
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


def _error_sentence(error: ErrorDetails, schema: Schema) -> str:
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


RESULT_MAX_BYTES: Final = 1_000_000
_NAME_MAX: Final = 128
_untrusted_notes: ContextVar[list[bool] | None] = ContextVar("reads_untrusted", default=None)
_posts: ContextVar[list[UUID] | None] = ContextVar("posts_of_call", default=None)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The JSON of an answer. `is_untrusted` is True if it may contain text from visitors or other sites.

    `post_ids`: the posts that the arguments named.
    """

    body: bytes
    is_untrusted: bool
    post_ids: tuple[UUID, ...] = ()


def note_untrusted() -> None:
    """Mark the current tool's answer as containing text from visitors or other sites."""
    notes = _untrusted_notes.get()
    if notes is not None:
        notes.append(True)


def note_post(post_id: UUID) -> None:
    """Note a post that the arguments of the current call named."""
    posts = _posts.get()
    if posts is not None:
        posts.append(post_id)


def find_tool(name: str) -> Tool[BaseModel]:
    """Return the tool with this name. Raises `NotFound` (`unknown_tool`)."""
    tool = get_tool(name)
    if tool is None:
        raise NotFound(unknown_tool(name), code="unknown_tool")
    return tool


def unknown_tool(name: str, known: list[str] | None = None) -> str:
    """Return the error message for an unknown tool, with the most similar name."""
    names = [tool.name for tool in all_tools()] if known is None else known
    guess = nearest(name[:_NAME_MAX], names)
    hint = f" (did you mean {guess}?)" if guess else "."
    return f"Unknown tool: {strip_unstorable(name)[:_NAME_MAX]}{hint}"


def call(
    tool: Tool[BaseModel], actor: Actor, arguments: BaseModel, most: int = RESULT_MAX_BYTES
) -> ToolResult:
    """Call the tool and return its answer, at most `most` bytes. Raises `CmsError`."""
    notes: list[bool] = []
    posts: list[UUID] = []
    token, posts_token = _untrusted_notes.set(notes), _posts.set(posts)
    try:
        body = orjson.dumps(tool.handler(actor, arguments), option=orjson.OPT_UTC_Z)
    finally:
        _untrusted_notes.reset(token)
        _posts.reset(posts_token)
    if len(body) > most:
        raise RuleViolation(
            f"The answer of {tool.name} has {len(body):,} bytes; at most {most:,} are "
            "sent. Ask for less: a smaller `limit`, `format` concise, or a narrower filter.",
            code="answer_too_long",
        )
    return ToolResult(body, tool.reads_untrusted or bool(notes), tuple(dict.fromkeys(posts)))


def call_raw(
    tool: Tool[BaseModel], actor: Actor, raw: Mapping[str, Any], most: int = RESULT_MAX_BYTES
) -> ToolResult:
    """Call the tool with raw arguments."""
    return call(tool, actor, parse_arguments(tool, raw), most)


def refusal_text(error: CmsError) -> str:
    """Return the text of an error for a model: the message, the details by path, and the current version."""
    lines = [error.message]
    found = [(path, said) for path, sentences in error.details.items() for said in sentences]
    path, sentence = found[0] if len(found) == 1 else ("", "")
    # For an error inside of a value, the message must also contain the path.
    is_included = sentence in error.message and ("." not in path or path in error.message)
    if len(found) != 1 or not is_included:
        lines += [f"- {path}: {sentence}" for path, sentence in found if sentence != error.message]
    if isinstance(error, Conflict) and error.current is not None:
        lines.append(f"The version that stands now is {error.current}.")
    return "\n".join(lines)


def strip_unstorable(name: str) -> str:
    """Return a name from a caller without characters that databases refuse."""
    return name.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
