"""Typed request bodies and query parameters. What does not fit is 422 with details by path."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Optional, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails
from rest_framework.request import Request

from core.api.answer import Answer, wire_names
from core.errors import RuleViolation, invalid


class Body(BaseModel):
    """Base of request bodies: camelCase on the wire, strict types, unknown keys refused.

    A body that is `answered_by` an answer may be that answer sent back: keys that only the answer has are ignored.
    In a `partial` one every key of the body that it inherits from may be absent or null.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )
    ignored_keys: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(
        cls, answered_by: type[Answer] | None = None, partial: bool = False
    ) -> None:
        """Take what `__pydantic_init_subclass__` reads, which Python hands to both."""
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls, answered_by: type[Answer] | None = None, partial: bool = False, **kwargs: Any
    ) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if partial:
            base = next(parent for parent in cls.__bases__ if issubclass(parent, Body))
            for name in base.model_fields:
                field = cls.model_fields[name] = copy(cls.model_fields[name])
                of: Any = field.annotation
                # Null is not asked for what the annotation asks of values.
                given = Annotated[(of, *field.metadata)] if field.metadata else of
                nullable: Any = Optional[given]  # noqa: UP045  # of a type made at run time
                field.annotation, field.metadata = nullable, []
                field.default, field.default_factory = None, None
            cls.model_rebuild(force=True)
        if answered_by is not None:
            own = {field.alias or name for name, field in cls.model_fields.items()}
            cls.ignored_keys = frozenset(wire_names(answered_by) - own)

    @model_validator(mode="before")
    @classmethod
    def _ignore_answered_keys(cls, values: object) -> object:
        if not cls.ignored_keys or not isinstance(values, dict):
            return values
        return {name: value for name, value in values.items() if name not in cls.ignored_keys}


def _without_nul(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not hold the character NUL")
    return value


def _moment(value: object) -> datetime | None:
    """Only texts: a number would be taken for seconds since 1970."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        found = found.astimezone(UTC) if found is not None and found.tzinfo else None
    except (ValueError, OverflowError):
        found = None
    if found is None and value is not None:
        raise ValueError("must be a time with a zone, like 2030-01-31T12:00:00Z")
    return found


Words = Annotated[str, AfterValidator(_without_nul)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
"""A time with its zone, in UTC."""
Whole = Annotated[int, Field(ge=0, le=2**53)]
"""A whole number from 0."""

B = TypeVar("B", bound=BaseModel)


def body_length(request: Request) -> int:
    """The bytes that the caller announces, before anything is read; 0 for what is no number."""
    text = str(request.META.get("CONTENT_LENGTH") or "")
    return int(text[:30]) if text.isascii() and text.isdecimal() else 0


def body_object(request: Request) -> dict[str, Any]:
    """The body, which must be a JSON object."""
    if not isinstance(request.data, dict):
        raise invalid("body", "The body must be a JSON object.")
    return dict(request.data)


def read_body(request: Request, shape: type[B]) -> B:
    """The body as `shape`. Raises `RuleViolation` keyed by path."""
    return check(body_object(request), shape)


def check(values: Mapping[str, Any], shape: type[B]) -> B:
    try:
        return shape.model_validate(dict(values))
    except ValidationError as error:
        raise violation_of(error, shape) from None


def violation_of(error: ValidationError, shape: type[BaseModel]) -> RuleViolation:
    """The refusal that a pydantic error amounts to."""
    details: dict[str, list[str]] = {}
    for item in error.errors(include_url=False)[:50]:
        path = ".".join(str(part)[:80] for part in item["loc"]) or "body"
        path = path.encode("utf-8", "replace").decode()
        if item["type"] == "extra_forbidden":
            known = ", ".join(field.alias or name for name, field in shape.model_fields.items())
            sentence = f"There is no key {path.split('.')[-1]!r} here; known: {known or 'none'}."
        else:
            sentence = _sentence(item)
        details.setdefault(path, []).append(sentence)
    path, sentences = next(iter(details.items()))
    return RuleViolation(f"{path}: {sentences[0]}", details=details)


def _sentence(item: ErrorDetails) -> str:
    """What is wrong, in words of JSON instead of Python's."""
    kind, limits = item["type"], item.get("ctx", {})
    unit = "characters" if isinstance(item["input"], str) else "entries"
    if kind in ("model_type", "dict_type"):
        return "must be an object."
    if kind in ("string_too_short", "too_short"):
        least = limits["min_length"]
        return "must not be empty." if least == 1 else f"must have at least {least} {unit}."
    if kind in ("string_too_long", "too_long"):
        return f"must have at most {limits['max_length']:,} {unit}."
    said = item["msg"].removeprefix("Value error, ")
    return (
        said.replace("Input should be ", "must be ").replace("Field required", "is required") + "."
    )
