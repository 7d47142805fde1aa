"""`/api/forms-definitions`: forms, publicly readable."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, NotRequired
from uuid import UUID

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from typing_extensions import TypedDict

from forms.confirmation import TEXT_MAX as CONFIRMATION_TEXT_MAX
from forms.fields import (
    DESCRIPTION_MAX,
    FIELD_NAME_MAX,
    FIELD_NAME_PATTERN,
    FIELD_TYPES,
    HINT_MAX,
    HONEYPOT,
    MAX_FIELDS,
    MAX_FILE_BYTES,
    MAX_OPTIONS,
    OPERATORS,
    REDIRECT_URL_COLUMN_MAX,
    SLUG_MAX,
    SUBMIT_LABEL_MAX,
    SUCCESS_MESSAGE_MAX,
    Length,
)
from forms.form_input import clean_locale
from forms.models import FormDefinition
from forms.queries import find_form
from forms.services.definitions import create_form, delete_form, update_form
from proofroom.accounts.delivery_credentials import DeliveryAuthentication, DeliveryThrottle
from proofroom.core.api.answer import Answer, AsStored, TextOrNull, described, list_of, one_of
from proofroom.core.api.body import body_object
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.schema import LOCATION, PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.caching.cache_tags import (
    cache_headers,
    form_tag,
    marked_tags,
    public_cache_control,
)
from proofroom.core.errors import invalid
from proofroom.core.json import Json
from proofroom.core.validation import patterns
from proofroom.core.validation.limits import LABEL_MAX, LOCALE_MAX, URL_MAX
from proofroom.core.validation.slugs import ASCII_SLUG_PATTERN

CACHE_CONTROL: Final = public_cache_control(60)
_READ_ONLY: Final = {"id", "honeypot", "createdAt", "updatedAt"}
LOCALE: Final = [query_parameter("locale", "Language; without it the default one.")]
SLUG_SHAPE: Final = {"type": "string", "pattern": ASCII_SLUG_PATTERN, "maxLength": SLUG_MAX}
PATHS: Final = {
    "slug": SLUG_SHAPE,
    "submission_id": {"type": "string", "format": "uuid"},
    "file_id": {"type": "string", "format": "uuid"},
}
Slug = Annotated[str, Field(pattern=ASCII_SLUG_PATTERN, max_length=SLUG_MAX)]
Locale = Annotated[str, Field(max_length=LOCALE_MAX)]
Title = Annotated[str, Field(max_length=LABEL_MAX)]
FormDescription = Annotated[str, Field(max_length=DESCRIPTION_MAX)]
SubmitLabel = Annotated[str, Field(max_length=SUBMIT_LABEL_MAX)]
SuccessMessage = Annotated[str, Field(max_length=SUCCESS_MESSAGE_MAX)]
Version = Annotated[int, Field(ge=0)]
IdText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class ConditionAnswer(TypedDict):
    """Show the field, or the fields of the step, only for this answer to another field."""

    field: Annotated[str, Field(max_length=FIELD_NAME_MAX)]
    operator: NotRequired[Annotated[str, one_of(OPERATORS)]]
    value: NotRequired[
        Annotated[str, Field(max_length=HINT_MAX, description="Not for isEmpty, isNotEmpty.")]
    ]


class ConfirmationAnswer(TypedDict):
    """The mail to the sender of a submission. `{{name}}` stands for an answer, `{{answers}}` for all."""

    emailField: Annotated[str, Field(max_length=FIELD_NAME_MAX)]
    subject: Title
    text: Annotated[str, Field(min_length=1, max_length=CONFIRMATION_TEXT_MAX)]


class FormFieldAnswer(TypedDict):
    """A field of a form, or a step: the fields after it, up to the next one, are one page."""

    name: Annotated[str, Field(pattern=FIELD_NAME_PATTERN, max_length=FIELD_NAME_MAX)]
    label: Title
    type: Annotated[str, one_of(FIELD_TYPES)]
    required: NotRequired[bool]
    options: NotRequired[
        Annotated[
            list[Title],
            Field(
                min_length=1,
                max_length=MAX_OPTIONS,
                description="Of a select, radio or checkboxes field.",
            ),
        ]
    ]
    minLength: NotRequired[Length]
    maxLength: NotRequired[Length]
    pattern: NotRequired[
        Annotated[
            str,
            Field(
                max_length=patterns.MAX_PATTERN_LENGTH,
                description="A regular expression for the whole value, without look-around or back-references.",
            ),
        ]
    ]
    placeholder: NotRequired[Annotated[str, Field(max_length=HINT_MAX)]]
    help: NotRequired[Annotated[str, Field(max_length=HINT_MAX)]]
    accept: NotRequired[
        Annotated[
            list[str],
            Field(description="Of a file: media types, endings such as `.pdf`, or `image/*`."),
        ]
    ]
    maxBytes: NotRequired[Annotated[int, Field(ge=1, le=MAX_FILE_BYTES)]]
    showIf: NotRequired[ConditionAnswer]


FormFields = Annotated[list[FormFieldAnswer], Field(min_length=1, max_length=MAX_FIELDS)]


class FormAnswer(Answer):
    """A form in a locale."""

    id: UUID
    slug: Slug
    locale: Locale
    title: Title
    description: FormDescription
    fields: Annotated[list[FormFieldAnswer], AsStored()]
    submit_label: SubmitLabel
    success_message: SuccessMessage
    redirect_url: TextOrNull = Field(max_length=REDIRECT_URL_COLUMN_MAX)
    honeypot: Annotated[str, one_of([HONEYPOT])] = Field(
        description="The name of the honeypot: hide this field from people and send it empty."
    )
    version: int = Field(ge=1)
    created_at: datetime
    updated_at: datetime


class EditableFormAnswer(FormAnswer):
    """A form with what only its editors see."""

    confirmation: Annotated[ConfirmationAnswer | None, AsStored()] = Field(
        default=None, exclude_if=lambda value: value is None
    )


class FormChange(TypedDict):
    """Changes of a form; absent keys stay. Other keys of a GET response may be sent back unchanged."""

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
            str | None,
            Field(max_length=URL_MAX, description="A path on this site, or http(s)://…"),
        ]
    ]
    confirmation: NotRequired[ConfirmationAnswer | None]
    honeypot: NotRequired[str]
    version: NotRequired[Version]
    createdAt: NotRequired[datetime]
    updatedAt: NotRequired[datetime]


class NewForm(FormChange):
    """A new form, in the default locale by default."""

    slug: Slug  # type: ignore[misc]  # optional in changes, required here
    title: Title  # type: ignore[misc]  # as above
    fields: FormFields  # type: ignore[misc]  # as above


class FormDeletedAnswer(Answer):
    """The deleted form."""

    id: UUID
    slug: str
    locale: str


class FormDefinitionViewSet(ApiViewSet):
    """Forms: list, create, read, change, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "forms.edit",
        "create": "forms.edit",
        "retrieve": PUBLIC,
        "update": "forms.edit",
        "destroy": "forms.edit",
    }
    conditional = frozenset({"list", "retrieve"})
    path_schemas = PATHS

    @property
    def throttle_scope(self) -> str | None:
        """The public rate limit for reading, as for posts."""
        return "public" if self.action == "retrieve" else None

    def get_authenticators(self) -> list[BaseAuthentication]:
        # Public reads need no session lookup.
        return [DeliveryAuthentication()] if self._is_public else list(super().get_authenticators())

    def get_throttles(self) -> list[BaseThrottle]:
        return [DeliveryThrottle()] if self._is_public else list(super().get_throttles())

    @property
    def _is_public(self) -> bool:
        # `self.action` is not set while the request is authenticated.
        method = (getattr(self.request, "method", None) or "").lower()
        return getattr(self, "action_map", {}).get(method) == "retrieve"

    def finalize_response(  # type: ignore[override]  # as its base
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.action == "retrieve" and response.status_code in (200, 304):
            # The response is the same for all users, so shared caches may store it.
            response["Cache-Control"] = CACHE_CONTROL
            tags = marked_tags([form_tag(str(self.kwargs["slug"]))])
            for name, value in cache_headers(tags).items():
                response[name] = value
            del response["Vary"]
        return response

    @extend_schema(
        parameters=[query_parameter("locale", "Forms in this language."), *PAGES],
        responses=list_of(EditableFormAnswer, "Forms by slug and locale."),
    )
    def list(self, request: Request) -> Response:
        """List forms by slug and locale."""
        page = page_of(request)
        rows = FormDefinition.objects.order_by("slug", "locale")
        if locale := request.query_params.get("locale"):
            rows = rows.filter(locale=clean_locale(locale))
        data = [EditableFormAnswer.of(form) for form in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(
        request=described(NewForm),
        responses={201: EditableFormAnswer},
        parameters=[LOCATION],
    )
    def create(self, request: Request) -> Response:
        """Create a form, in the default locale by default."""
        body = _read_input(request)
        # A new form has no version to compare with.
        body.pop("version", None)
        slug, locale = body.pop("slug", None), body.pop("locale", None)
        if not isinstance(slug, str):
            raise invalid("slug", "slug is required, as text.")
        if locale is not None and not isinstance(locale, str):
            raise invalid("locale", "locale must be text.")
        form = create_form(slug=slug, locale=locale, values=body, actor=self.actor)
        address = f"/api/forms-definitions/{form.slug}?locale={form.locale}"
        return Response(EditableFormAnswer.of(form), status=201, headers={"Location": address})

    @extend_schema(parameters=LOCALE, responses=FormAnswer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """Return a form in the locale, or in the default locale."""
        return Response(FormAnswer.of(find_form(slug, _locale(request))))

    @extend_schema(
        parameters=LOCALE,
        request=described(FormChange),
        responses=EditableFormAnswer,
    )
    def update(self, request: Request, slug: str) -> Response:
        """Change the form in this locale only; absent keys stay."""
        body = _read_input(request)
        version = expected_version(request, body.pop("version", None))
        form = update_form(
            slug=slug,
            locale=_locale(request),
            values=body,
            actor=self.actor,
            expected_version=version,
        )
        return Response(EditableFormAnswer.of(form))

    @extend_schema(parameters=LOCALE, responses=FormDeletedAnswer)
    def destroy(self, request: Request, slug: str) -> Response:
        """Delete the form in this locale only. Its submissions stay."""
        form = delete_form(slug=slug, locale=_locale(request), actor=self.actor)
        return Response(FormDeletedAnswer.of(form))


def _read_input(request: Request) -> dict[str, Json]:
    body = body_object(request)
    return {name: value for name, value in body.items() if name not in _READ_ONLY}


def _locale(request: Request) -> str:
    return clean_locale(request.query_params.get("locale"))
