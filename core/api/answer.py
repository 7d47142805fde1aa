"""Typed answers: one pydantic class is what is rendered, what the OpenAPI document says, and what a body may repeat.

    class WebhookAnswer(Answer):
        '''A webhook.'''  # the component `Webhook` and its description

        id: UUID
        active: bool = Field(validation_alias="is_active")  # the row's name for it
        disabled_reason: TextOrNull
        locales: list[str] = Field(description="None means all.")

    class NewWebhook(Body, answered_by=WebhookAnswer): ...  # ignores what an answer has and a body has not

    @extend_schema(responses=list_of(WebhookAnswer, "Webhooks, by name."))
    return Response(page.envelope([WebhookAnswer.model_validate(row) for row in rows], total))

Hot paths that answer dicts use `described(SomeTypedDict)` (`TypedDict` of `typing_extensions`), so that mypy and the
document hold the same shape.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, create_model
from pydantic.alias_generators import to_camel

TextOrNull = Annotated[str | None, BeforeValidator(lambda value: value or None)]
"""A text that a row keeps empty where there is none; answered as null then."""


class Answer(BaseModel):
    """Base of answers: read from attributes of a row or from keyword arguments, camelCase on the wire."""

    model_config = ConfigDict(from_attributes=True, alias_generator=to_camel, populate_by_name=True)


def wire_names(shape: type[Answer]) -> set[str]:
    """The keys that an answer has on the wire."""
    names = {
        field.serialization_alias or to_camel(name) for name, field in shape.model_fields.items()
    }
    computed = shape.model_computed_fields.items()
    return names | {field.alias or to_camel(name) for name, field in computed}


class PersonAnswer(Answer):
    """An account, by name; the id is null where it no longer exists."""

    id: int | None
    username: str | None


class MetaAnswer(BaseModel):
    """Where a page stands in its list."""

    total: int = Field(ge=0)
    per_page: int = Field(ge=0)
    current_page: int = Field(ge=1)
    last_page: int = Field(ge=1)


class DescribedType:
    """Base of what `described` makes."""

    adapter: ClassVar[TypeAdapter[Any]]


@cache
def list_of(shape: type[Answer] | type[DescribedType], description: str = "") -> type[Answer]:
    """The envelope `{data, meta}` of a list, as the component `<Name>List`."""
    name = shape.__name__.removesuffix("Answer")
    item = shape.adapter._type if issubclass(shape, DescribedType) else shape
    return create_model(
        f"{name}ListAnswer",
        __base__=Answer,
        __doc__=description or None,
        data=(list[item], ...),  # type: ignore[valid-type]  # a class made at run time
        meta=(MetaAnswer, ...),
    )


@cache
def described(shape: Any) -> type[DescribedType]:
    """A response class for a `TypedDict` or another type whose values are answered as they are."""
    return type(
        shape.__name__, (DescribedType,), {"adapter": TypeAdapter(shape), "__doc__": shape.__doc__}
    )
