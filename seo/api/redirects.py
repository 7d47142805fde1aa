"""`/api/redirects`: where addresses that nothing stands at lead."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.body import Body, Words, body_object, check
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.schema import LOCATION
from core.api.views import ApiViewSet
from core.errors import invalid
from seo import presenters
from seo.api import schema
from seo.models import ADDRESS_MAX
from seo.queries import find_redirect, redirects
from seo.services.redirects import change_redirect, create_redirect, delete_redirect

_READ_ONLY: Final = ("id", "locale", "automatic", "hits", "createdAt", "updatedAt")
_BOOLEANS: Final = {"true": True, "false": False}


class NewRedirect(Body):
    """A redirect. Other keys that a GET answers are ignored."""

    from_path: Words = Field(
        min_length=1, max_length=ADDRESS_MAX, description="A path of this site."
    )
    to_path: Words = Field(
        min_length=1,
        max_length=ADDRESS_MAX,
        description="A path of this site or an absolute http(s) address.",
    )
    type: int = Field(301, ge=301, le=302)
    active: bool = True


class RedirectChanges(Body):
    """What to change of a redirect; what is absent stays. Other keys that a GET answers are ignored."""

    from_path: Words | None = Field(None, min_length=1, max_length=ADDRESS_MAX)
    to_path: Words | None = Field(None, min_length=1, max_length=ADDRESS_MAX)
    type: int | None = Field(None, ge=301, le=302)
    active: bool | None = None


class RedirectViewSet(ApiViewSet):
    """Redirects: list, create, read, update, delete."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "create", "retrieve", "update", "destroy"), "redirects.edit"
    )

    @extend_schema(parameters=schema.REDIRECT_PARAMETERS, responses=schema.RedirectListSchema)
    def list(self, request: Request) -> Response:
        """Redirects, latest first."""
        page = page_of(request)
        type_ = _one_of(request, "type", ("301", "302"))
        rows = redirects(
            search=_search(request),
            type=int(type_) if type_ else None,
            locale=_one_of(request, "locale", settings.CMS_ENV.locales),
            automatic=_BOOLEANS.get(_one_of(request, "automatic", tuple(_BOOLEANS)) or ""),
            active=_BOOLEANS.get(_one_of(request, "active", tuple(_BOOLEANS)) or ""),
        )
        found = [presenters.redirect(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(
        request=NewRedirect, responses={201: schema.RedirectSchema}, parameters=[LOCATION]
    )
    def create(self, request: Request) -> Response:
        """Lead an address on. Chains are collapsed; a loop is refused."""
        body = check(_written(request), NewRedirect)
        row = create_redirect(
            actor=self.actor,
            from_path=body.from_path,
            to_path=body.to_path,
            type=body.type,
            active=body.active,
        )
        return Response(
            presenters.redirect(row), status=201, headers={"Location": f"/api/redirects/{row.pk}"}
        )

    @extend_schema(responses=schema.RedirectSchema)
    def retrieve(self, request: Request, redirect_id: str) -> Response:
        """One redirect."""
        return Response(presenters.redirect(find_redirect(redirect_id)))

    @extend_schema(request=RedirectChanges, responses=schema.RedirectSchema)
    def update(self, request: Request, redirect_id: str) -> Response:
        """Change a redirect; what is absent stays."""
        body = check(_written(request), RedirectChanges)
        row = change_redirect(
            redirect_id=redirect_id,
            actor=self.actor,
            from_path=body.from_path,
            to_path=body.to_path,
            type=body.type,
            active=body.active,
        )
        return Response(presenters.redirect(row))

    @extend_schema(responses={200: schema.RedirectGoneSchema})
    def destroy(self, request: Request, redirect_id: str) -> Response:
        """Delete a redirect: its address leads nowhere again."""
        row = find_redirect(redirect_id)
        delete_redirect(redirect_id=row.pk, actor=self.actor)
        return Response({"id": row.pk})


def _written(request: Request) -> dict[str, Any]:
    return {name: value for name, value in body_object(request).items() if name not in _READ_ONLY}


def _one_of(request: Request, name: str, known: tuple[str, ...]) -> str | None:
    value = request.query_params.get(name)
    if value is not None and value not in known:
        raise invalid(name, f"{name} must be one of: {', '.join(known)}.")
    return value


def _search(request: Request) -> str:
    words = request.query_params.get("search", "").strip()
    if len(words) > 200 or "\x00" in words:
        raise invalid("search", "search has at most 200 characters, and no NUL.")
    return words
