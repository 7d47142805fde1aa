"""Typed answers: one pydantic class for rendering, for the OpenAPI document, and for bodies that repeat an answer.

    class WebhookAnswer(Answer):
        '''A webhook.'''  # the component `Webhook` and its description

        id: UUID
        active: bool = Field(validation_alias="is_active")  # the row's name for it
        disabled_reason: TextOrNull
        locales: list[str] = Field(description="None means all.")

    class NewWebhook(Body, answered_by=WebhookAnswer): ...  # ignores keys that only the answer has

    @extend_schema(responses=list_of(WebhookAnswer, "Webhooks, by name."))
    return Response(page.envelope([WebhookAnswer.of(row) for row in rows], total))

Hot paths that answer dicts use `described(SomeTypedDict)` (`TypedDict` of `typing_extensions`), so that mypy and the
document share one shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    create_model,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict


@dataclass(frozen=True)
class AsStored:
    """Marks a value that is answered without validation: the annotated type only describes it.

    For JSON of earlier versions, and for hot paths where validation is too slow.
    """

    def __get_pydantic_core_schema__(
        self, source: Any, _handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        def describe(_: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
            items = handler(TypeAdapter(list[source]).core_schema)["items"]
            # Pydantic would replace a bare reference by its definition here.
            return {"allOf": [items]} if "$ref" in items else items

        return core_schema.any_schema(metadata={"pydantic_js_functions": [describe]})


TextOrNull = Annotated[str | None, BeforeValidator(lambda value: value or None)]
"""A text column whose empty value is answered as null."""


_LIMIT_ERRORS: Final = frozenset(
    [
        "literal_error",
        "enum",
        "greater_than_equal",
        "less_than_equal",
        "string_too_long",
        "string_too_short",
    ]
)

_LIMIT_KEYS: Final = frozenset(("ge", "le", "min_length", "max_length"))


def one_of(values: Iterable[str | int]) -> Any:
    """Describe a value as one of these, for `Annotated[str, one_of(...)]`. Other values are answered, too."""
    return Field(json_schema_extra={"enum": list(values)})


class Answer(BaseModel):
    """Base of answers: reads attributes of a row or keyword arguments, camelCase on the wire.

    Limits and closed lists only describe a field: a value stored under other rules is answered unchanged.
    """

    model_config = ConfigDict(
        from_attributes=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        schema = handler(source)
        fields: Any = schema
        # Validators and the model wrap the schema that has the fields.
        while "fields" not in fields and "schema" in fields:
            fields = fields["schema"]
        for field in fields.get("fields", {}).values():
            if _is_limited(field["schema"]):
                field["schema"] = core_schema.no_info_wrap_validator_function(
                    _keep_beyond_limits, field["schema"]
                )
        return schema

    @classmethod
    def of(cls, row: object, **values: object) -> Self:
        """Read a row. `values` override or add attributes."""
        return cls.model_validate(_Overlay(row, values) if values else row)


def _is_limited(schema: Mapping[str, Any]) -> bool:
    """Return True if a field may refuse values of its own type."""
    if schema["type"] in ("nullable", "default"):
        return _is_limited(schema["schema"])
    return schema["type"] in ("literal", "enum") or not _LIMIT_KEYS.isdisjoint(schema)


def _keep_beyond_limits(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    try:
        return handler(value)
    except ValidationError as error:
        # Ignore only limits of the value itself: a wrong type, or an error inside of it, must still
        # fail.
        if all(item["type"] in _LIMIT_ERRORS and not item["loc"] for item in error.errors()):
            return value
        raise


class _Overlay:
    """A row with some attributes overridden."""

    __slots__ = ("_row", "_values")

    def __init__(self, row: object, values: Mapping[str, object]) -> None:
        self._row, self._values = row, values

    def __getattr__(self, name: str) -> object:
        return self._values[name] if name in self._values else getattr(self._row, name)


def wire_names(shape: type[Any]) -> set[str]:
    """Return the wire names of the keys of an answer or of a `TypedDict`."""
    if not issubclass(shape, Answer):
        return {*shape.__required_keys__, *shape.__optional_keys__}
    names = {
        field.serialization_alias or to_camel(name) for name, field in shape.model_fields.items()
    }
    computed = shape.model_computed_fields.items()
    return names | {field.alias or to_camel(name) for name, field in computed}


class PersonAnswer(Answer):
    """An account, by name; the id is null where it no longer exists."""

    id: int | None
    username: str | None


class Person(TypedDict):
    """An account, by name; the id is null where it no longer exists."""

    id: int | None
    username: str | None


class MetaAnswer(BaseModel):
    """The position of a page in its list. `total_is_estimate` is present only if `total` is an estimate."""

    total: int = Field(ge=0)
    per_page: int = Field(ge=0)
    current_page: int = Field(ge=1)
    last_page: int = Field(ge=1)
    total_is_estimate: bool = False


class DescribedType:
    """Base of the classes that `described` creates."""

    shape: ClassVar[type[Any]]
    adapter: ClassVar[TypeAdapter[Any]]


_lists: Final[dict[tuple[type, str], type[Answer]]] = {}


def list_of(shape: type[Answer] | type[DescribedType], description: str = "") -> type[Answer]:
    """Return the envelope `{data, meta}` of a list, as the component `<Name>List`. Cached by its arguments."""
    # Two classes of one name would be two components in the OpenAPI document.
    if (shape, description) not in _lists:
        item = shape.shape if issubclass(shape, DescribedType) else shape
        _lists[shape, description] = create_model(
            f"{shape.__name__.removesuffix('Answer')}ListAnswer",
            __base__=Answer,
            __doc__=description or None,
            data=(list[item], ...),  # type: ignore[valid-type]  # a class created at runtime
            meta=(MetaAnswer, ...),
        )
    return _lists[shape, description]


@cache
def described(shape: Any) -> type[DescribedType]:
    """Return a response class for a `TypedDict` or another type whose values are answered without validation."""
    return type(
        shape.__name__,
        (DescribedType,),
        {"shape": shape, "adapter": TypeAdapter(shape), "__doc__": shape.__doc__},
    )
