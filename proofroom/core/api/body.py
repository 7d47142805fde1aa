"""Request bodies: parse values into types, raise 422 with details by path, and write JSON."""

from __future__ import annotations

import re
from copy import copy
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Optional, TypeVar
from uuid import UUID

import orjson
from django.http import HttpRequest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.alias_generators import to_camel

from proofroom.core.api.answer import wire_names
from proofroom.core.errors import invalid
from proofroom.core.validation.errors import validate_input
from proofroom.core.validation.moments import parse_moment

if TYPE_CHECKING:
    from rest_framework.request import Request


_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


class Body(BaseModel):
    """Base of request bodies: camelCase on the wire, strict types, unknown keys refused.

    A body that is `answered_by` an answer accepts that answer sent back: keys that only the answer has are ignored.
    In a `partial` body every inherited key may be absent or null.
    """

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        strict=True,
        defer_build=True,
    )
    ignored_keys: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, answered_by: type[Any] | None = None, partial: bool = False) -> None:
        """Accept the class arguments of `__pydantic_init_subclass__`: Python passes them to this method, too."""
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls, answered_by: type[Any] | None = None, partial: bool = False, **kwargs: Any
    ) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if partial:
            base = next(parent for parent in cls.__bases__ if issubclass(parent, Body))
            for name in base.model_fields:
                # The inherited FieldInfo also belongs to the parent class.
                field = cls.model_fields[name] = copy(cls.model_fields[name])
                of: Any = field.annotation
                # The constraints of the annotation must not apply to null, so they move inside the
                # Optional.
                given = Annotated[(of, *field.metadata)] if field.metadata else of
                nullable: Any = Optional[given]  # noqa: UP045  # of a type created at runtime
                field.annotation, field.metadata = nullable, []
                field.default, field.default_factory = None, None
            # Pydantic has already built the class with the original fields.
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
        raise ValueError("must not contain the character NUL")
    return value


def _moment(value: object) -> datetime | None:
    """Accept only text and a datetime that a form parsed: pydantic would read a number as seconds since 1970."""
    found = parse_moment(value.isoformat() if isinstance(value, datetime) else value)
    if found is None and value is not None:
        raise ValueError("must be a time with a zone, like 2030-01-31T12:00:00Z")
    return found


def _uuid(value: object) -> UUID:
    if isinstance(value, str) and _UUID.fullmatch(value):
        return UUID(value)
    raise ValueError("must be a UUID")


Words = Annotated[str, AfterValidator(_without_nul)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
"""A time with a zone, converted to UTC."""
Id = Annotated[UUID, BeforeValidator(_uuid)]
"""A UUID with hyphens. Other notations that Python accepts are refused."""
# JavaScript clients represent larger integers inexactly.
Whole = Annotated[int, Field(ge=0, le=2**53)]
"""A non-negative integer."""

B = TypeVar("B", bound=BaseModel)


def body_length(request: HttpRequest | Request) -> int:
    """Return the Content-Length in bytes without reading the body; 0 if it is missing or invalid."""
    text = str(request.META.get("CONTENT_LENGTH") or "")
    # `int` raises ValueError for thousands of digits.
    return int(text[:30]) if text.isascii() and text.isdecimal() else 0


def body_object(request: Request) -> dict[str, Any]:
    """Return the body. Raises `RuleViolation` unless it is a JSON object."""
    if not isinstance(request.data, dict):
        raise invalid("body", "The body must be a JSON object.")
    return dict(request.data)


def read_body(request: Request, shape: type[B]) -> B:
    """Parse the body as `shape`. Raises `RuleViolation` keyed by path."""
    return validate_input(body_object(request), shape)


# orjson would write times with microseconds and "+00:00".
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS


def _plain(value: object) -> object:
    """Convert answers to dicts with wire names, and times to the format of `proofroom.core.json.format_time`."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, warnings=False)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} is no JSON")
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return aware.isoformat(timespec="milliseconds")[:-6] + "Z"


def dumps(value: object) -> bytes:
    """Return JSON of dicts, lists, UUIDs, times (ISO 8601, UTC, milliseconds, `Z`) and `orjson.Fragment`s."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)
