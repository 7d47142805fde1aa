"""The OpenAPI descriptions of forms and submissions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, NotRequired
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse
from pydantic import Field
from typing_extensions import TypedDict

from forms.fields import FIELD_TYPES, HONEYPOT, MAX_FIELDS, MAX_LENGTHS, MAX_OPTIONS
from proofroom.core.api.answer import Answer, TextOrNull, described, list_of, one_of
from proofroom.core.api.schema import LOCATION, PAGES, UUID_TEXT, query_parameter
from proofroom.core.validation import patterns

SLUG: Final = "^[a-z0-9]+(-[a-z0-9]+)*$"
SLUG_SHAPE: Final = {"type": "string", "pattern": SLUG, "maxLength": 100}
PATHS: Final = {
    "slug": SLUG_SHAPE,
    "submission_id": {"type": "string", "format": "uuid"},
}
LOCALE: Final = [query_parameter("locale", "Language; without it the default one.")]
SUBMIT: Final = [
    *LOCALE,
    query_parameter(
        "postId",
        "The post whose page the visitor sent it from: it then counts as a conversion of that post.",
        UUID_TEXT,
    ),
]
LIST: Final = [query_parameter("locale", "Forms in this language."), *PAGES]
MADE: Final = [LOCATION]
CHOSEN: Final = [
    query_parameter("from", "Date or time (ISO 8601) of the oldest."),
    query_parameter("to", "Date or time of the latest; a date counts whole."),
    query_parameter("locale", "Sent to the form in this language."),
]
SUBMISSIONS: Final = [*CHOSEN, *PAGES]
_LONGEST: Final = max(MAX_LENGTHS.values())


Slug = Annotated[str, Field(pattern=SLUG, max_length=100)]
Length = Annotated[int, Field(ge=1, le=_LONGEST)]
Locale = Annotated[str, Field(max_length=12)]
Title = Annotated[str, Field(max_length=200)]
FormDescription = Annotated[str, Field(max_length=2000)]
SubmitLabel = Annotated[str, Field(max_length=100)]
SuccessMessage = Annotated[str, Field(max_length=1000)]
Version = Annotated[int, Field(ge=0)]
IdText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class FormFieldAnswer(TypedDict):
    """A field of a form."""

    name: Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
    label: Title
    type: Annotated[str, one_of(FIELD_TYPES)]
    required: NotRequired[bool]
    options: NotRequired[
        Annotated[
            list[Title],
            Field(min_length=1, max_length=MAX_OPTIONS, description="Of a select only."),
        ]
    ]
    minLength: NotRequired[Length]
    maxLength: NotRequired[Length]
    pattern: NotRequired[
        Annotated[
            str,
            Field(
                max_length=patterns.MAX_PATTERN_LENGTH,
                description="What the whole value must fit, without look-around and back-references.",
            ),
        ]
    ]
    placeholder: NotRequired[Annotated[str, Field(max_length=500)]]
    help: NotRequired[Annotated[str, Field(max_length=500)]]


FormFields = Annotated[list[FormFieldAnswer], Field(min_length=1, max_length=MAX_FIELDS)]


class FormAnswer(TypedDict):
    """A form in a locale."""

    id: IdText
    slug: Slug
    locale: Locale
    title: Title
    description: FormDescription
    fields: list[FormFieldAnswer]
    submitLabel: SubmitLabel
    successMessage: SuccessMessage
    redirectUrl: Annotated[str, Field(max_length=2048)] | None
    honeypot: Annotated[
        str,
        one_of([HONEYPOT]),
        Field(description="Show people no field of this name, and send it empty."),
    ]
    version: Annotated[int, Field(ge=1)]
    createdAt: datetime
    updatedAt: datetime


FORM_LIST: Final = list_of(described(FormAnswer), "Forms by slug and locale.")


class FormChange(TypedDict):
    """Changes of a form; what is absent stays. What else a GET answers may be sent back as it was."""

    id: NotRequired[IdText]
    slug: NotRequired[Slug]
    locale: NotRequired[Locale]
    title: NotRequired[Title]
    description: NotRequired[FormDescription]
    fields: NotRequired[FormFields]
    submitLabel: NotRequired[SubmitLabel]
    successMessage: NotRequired[SuccessMessage]
    redirectUrl: NotRequired[
        Annotated[
            str | None, Field(max_length=2000, description="A path of this site, or http(s)://…")
        ]
    ]
    honeypot: NotRequired[str]
    version: NotRequired[Version]
    createdAt: NotRequired[datetime]
    updatedAt: NotRequired[datetime]


class NewForm(FormChange):
    """A form to be made; without a locale, in the default one."""

    slug: Slug  # type: ignore[misc]  # what may stay away of a change is needed here
    title: Title  # type: ignore[misc]  # likewise
    fields: FormFields  # type: ignore[misc]  # likewise


class FormDeletedAnswer(Answer):
    """The form that was deleted."""

    id: UUID
    slug: str
    locale: str


class FormSubmittedAnswer(Answer):
    """The answer to the visitor."""

    id: UUID
    success_message: str
    redirect_url: TextOrNull


class FormSubmissionAnswer(Answer):
    """A submission by a visitor."""

    id: UUID
    form_slug: str
    locale: str
    payload: dict[str, Any] = Field(description="Values by the names of fields.")
    created_at: datetime


class FormSubmissionDeletedAnswer(Answer):
    """The submission that was deleted."""

    id: UUID


_ANSWERS: Final = {
    "type": "object",
    "description": "Values by the names of the form's fields.",
    "additionalProperties": True,
}
ANSWERS: Final = {
    "application/json": _ANSWERS,
    "application/x-www-form-urlencoded": _ANSWERS,
    "multipart/form-data": _ANSWERS,
}
SUBMITTED: Final = {
    201: FormSubmittedAnswer,
    303: OpenApiResponse(
        description="To a plain HTML form of a browser, where the form has a redirectUrl."
    ),
}
CSV: Final = {
    (200, "text/csv"): {
        "type": "string",
        "description": "A header of labels, then a line for each.",
    }
}
