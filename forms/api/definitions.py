"""`/api/forms-definitions`: forms, public to read."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from forms import presenters
from forms.api import schema
from forms.form_input import clean_locale
from forms.models import FormDefinition
from forms.queries import find_form
from forms.services.definitions import create_form, delete_form, update_form
from proofroom.core.api.answer import described
from proofroom.core.api.body import body_object
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.errors import invalid
from proofroom.core.json import Json

CACHE_CONTROL = "public, max-age=60"
_READ_ONLY = {"id", "honeypot", "createdAt", "updatedAt"}


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
    path_schemas = schema.PATHS

    @property
    def throttle_scope(self) -> str | None:
        """Frontends read forms as they read posts."""
        return "public" if self.action == "retrieve" else None

    def get_authenticators(self) -> list[BaseAuthentication]:
        # `self.action` is not known yet. What anybody may read needs no session to be looked up.
        method = (getattr(self.request, "method", None) or "").lower()
        is_public = getattr(self, "action_map", {}).get(method) == "retrieve"
        return [] if is_public else list(super().get_authenticators())

    def finalize_response(  # type: ignore[override]  # as its base
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.action == "retrieve" and response.status_code in (200, 304):
            # The same for everybody, so every cache on the way may keep it.
            response["Cache-Control"] = CACHE_CONTROL
            del response["Vary"]
        return response

    @extend_schema(
        parameters=schema.LIST,
        responses=schema.FORM_LIST,
    )
    def list(self, request: Request) -> Response:
        """Forms by slug and locale."""
        page = page_of(request)
        rows = FormDefinition.objects.order_by("slug", "locale")
        if locale := request.query_params.get("locale"):
            rows = rows.filter(locale=clean_locale(locale))
        data = [presenters.present_form(form) for form in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(
        request=described(schema.NewForm),
        responses={201: described(schema.FormAnswer)},
        parameters=schema.MADE,
    )
    def create(self, request: Request) -> Response:
        """Make a form. Without a locale, in the default one."""
        body = _body(request)
        body.pop("version", None)
        slug, locale = body.pop("slug", None), body.pop("locale", None)
        if not isinstance(slug, str):
            raise invalid("slug", "slug is required, as text.")
        if locale is not None and not isinstance(locale, str):
            raise invalid("locale", "locale must be text.")
        form = create_form(slug=slug, locale=locale, values=body, actor=self.actor)
        address = f"/api/forms-definitions/{form.slug}?locale={form.locale}"
        return Response(presenters.present_form(form), status=201, headers={"Location": address})

    @extend_schema(parameters=schema.LOCALE, responses=described(schema.FormAnswer))
    def retrieve(self, request: Request, slug: str) -> Response:
        """A form; where there is none in the locale, that of the default one."""
        return Response(presenters.present_form(find_form(slug, _locale(request))))

    @extend_schema(
        parameters=schema.LOCALE,
        request=described(schema.FormChange),
        responses=described(schema.FormAnswer),
    )
    def update(self, request: Request, slug: str) -> Response:
        """Change the form in just this locale; what is absent stays."""
        body = _body(request)
        version = expected_version(request, body.pop("version", None))
        form = update_form(
            slug=slug,
            locale=_locale(request),
            values=body,
            actor=self.actor,
            expected_version=version,
        )
        return Response(presenters.present_form(form))

    @extend_schema(parameters=schema.LOCALE, responses=schema.FormDeletedAnswer)
    def destroy(self, request: Request, slug: str) -> Response:
        """Delete the form in just this locale. Its submissions stay."""
        form = delete_form(slug=slug, locale=_locale(request), actor=self.actor)
        return Response(schema.FormDeletedAnswer.model_validate(form))


def _body(request: Request) -> dict[str, Json]:
    body = body_object(request)
    return {name: value for name, value in body.items() if name not in _READ_ONLY}


def _locale(request: Request) -> str:
    return clean_locale(request.query_params.get("locale"))
