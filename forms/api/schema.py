"""The OpenAPI descriptions of forms and submissions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse
from pydantic import Field
from rest_framework import serializers

from core import patterns
from core.api.answer import Answer, TextOrNull
from core.api.schema import LOCATION, PAGES, UUID_TEXT, MetaSchema, query
from forms.fields import FIELD_TYPES, HONEYPOT, LONGEST, MOST_FIELDS, MOST_OPTIONS

SLUG: Final = "^[a-z0-9]+(-[a-z0-9]+)*$"
SLUG_SHAPE: Final = {"type": "string", "pattern": SLUG, "maxLength": 100}
PATHS: Final = {
    "slug": SLUG_SHAPE,
    "submission_id": {"type": "string", "format": "uuid"},
}
LOCALE: Final = [query("locale", "Language; without it the default one.")]
SUBMIT: Final = [
    *LOCALE,
    query(
        "postId",
        "The post whose page the visitor sent it from: it then counts as a conversion of that post.",
        UUID_TEXT,
    ),
]
LIST: Final = [query("locale", "Forms in this language."), *PAGES]
MADE: Final = [LOCATION]
CHOSEN: Final = [
    query("from", "Date or time (ISO 8601) of the oldest."),
    query("to", "Date or time of the latest; a date counts whole."),
    query("locale", "Sent to the form in this language."),
]
SUBMISSIONS: Final = [*CHOSEN, *PAGES]
_LONGEST: Final = max(LONGEST.values())


class FormFieldSchema(serializers.Serializer[object]):
    """A field of a form."""

    name = serializers.RegexField(r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)
    label = serializers.CharField(max_length=200)  # type: ignore[assignment]  # a field of that name
    type = serializers.ChoiceField(choices=FIELD_TYPES)
    required = serializers.BooleanField(required=False)  # type: ignore[assignment]  # likewise
    options = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        min_length=1,
        max_length=MOST_OPTIONS,
        help_text="Of a select only.",
    )
    minLength = serializers.IntegerField(required=False, min_value=1, max_value=_LONGEST)
    maxLength = serializers.IntegerField(required=False, min_value=1, max_value=_LONGEST)
    pattern = serializers.CharField(
        required=False,
        max_length=patterns.LONGEST_PATTERN,
        help_text="What the whole value must fit, without look-around and back-references.",
    )
    placeholder = serializers.CharField(required=False, allow_blank=True, max_length=500)
    help = serializers.CharField(required=False, allow_blank=True, max_length=500)


class FormSchema(serializers.Serializer[object]):
    """A form in a locale."""

    id = serializers.UUIDField()
    slug = serializers.SlugField(max_length=100)
    locale = serializers.CharField(max_length=12)
    title = serializers.CharField(max_length=200)
    description = serializers.CharField(allow_blank=True, max_length=2000)
    fields = FormFieldSchema(many=True)  # type: ignore[assignment]  # a field of that name
    submitLabel = serializers.CharField(max_length=100)
    successMessage = serializers.CharField(max_length=1000)
    redirectUrl = serializers.CharField(allow_null=True, max_length=2048)
    honeypot = serializers.ChoiceField(
        choices=[HONEYPOT], help_text="Show people no field of this name, and send it empty."
    )
    version = serializers.IntegerField(min_value=1)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class FormListSchema(serializers.Serializer[object]):
    """Forms by slug and locale."""

    data = FormSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class FormChangeSchema(serializers.Serializer[object]):
    """What of a form can be written; what is absent stays. What else a GET answers may be sent back as it was."""

    id = serializers.UUIDField(required=False)
    slug = serializers.RegexField(SLUG, required=False, max_length=100)
    locale = serializers.CharField(required=False, max_length=12)
    title = serializers.CharField(required=False, max_length=200)
    description = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    fields = serializers.ListField(  # type: ignore[assignment]  # a field of that name
        child=FormFieldSchema(), required=False, min_length=1, max_length=MOST_FIELDS
    )
    submitLabel = serializers.CharField(required=False, max_length=100)
    successMessage = serializers.CharField(required=False, max_length=1000)
    redirectUrl = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=2000,
        help_text="A path of this site, or http(s)://…",
    )
    honeypot = serializers.CharField(required=False)
    version = serializers.IntegerField(required=False, min_value=0)
    createdAt = serializers.DateTimeField(required=False)
    updatedAt = serializers.DateTimeField(required=False)


class NewFormSchema(FormChangeSchema):
    """A form to be made; without a locale, in the default one."""

    slug = serializers.RegexField(SLUG, max_length=100)
    title = serializers.CharField(max_length=200)
    fields = serializers.ListField(child=FormFieldSchema(), min_length=1, max_length=MOST_FIELDS)


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
    """What a visitor sent."""

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
