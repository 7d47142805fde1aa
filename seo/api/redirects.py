"""`/api/redirects`: redirects one by one, and all of them as CSV."""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, TextOrNull, list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import LOCATION, PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from seo.models import TYPE_NAMES, NewRedirect, RedirectAnswer, RedirectChanges
from seo.queries import find_redirect, redirects
from seo.redirect_csv import MAX_CHARACTERS, export_lines
from seo.services.redirect_import import check_import, import_redirects
from seo.services.redirects import change_redirect, create_redirect, delete_redirect, record_export

_BOOLEANS: Final = {"true": True, "false": False}
_FILTERS: Final = [
    query_parameter("search", "Words in fromPath or toPath."),
    query_parameter("type", "301 or 302.", choice_schema(*TYPE_NAMES)),
    query_parameter(
        "automatic",
        "true: only redirects that a moved post left.",
        choice_schema("true", "false"),
    ),
    query_parameter("locale", "Language of the address."),
    query_parameter("active", "Whether it leads on.", choice_schema("true", "false")),
    *PAGES,
]
_CSV: Final = {
    (200, "text/csv"): {
        "type": "string",
        "description": "fromPath, toPath, type, active, automatic, hits, locale; a line for each.",
    }
}


class RedirectGoneAnswer(Answer):
    """The deleted redirect."""

    id: UUID


class RedirectProblemAnswer(Answer):
    """A refused line; `field` is null for the whole line."""

    line: int = Field(ge=1)
    field: TextOrNull
    message: str = Field(validation_alias="sentence")


class RedirectImportAnswer(Answer):
    """The result of an import, or of its dry run."""

    dry_run: bool
    created: int = Field(ge=0)
    changed: int = Field(ge=0)
    unchanged: int = Field(ge=0)
    errors: list[RedirectProblemAnswer] = Field(validation_alias="problems")


class RedirectFile(Body):
    """Redirects as CSV: columns fromPath, toPath and optionally type (301) and active (true)."""

    csv: Words = Field(min_length=1, max_length=MAX_CHARACTERS)
    dry_run: bool = Field(False, description="true: say what it would do, and change nothing.")


class RedirectViewSet(ApiViewSet):
    """Redirects: list, create, read, update, delete."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "create", "retrieve", "update", "destroy"), "redirects.edit"
    )

    @extend_schema(
        parameters=_FILTERS, responses=list_of(RedirectAnswer, "Redirects, latest first.")
    )
    def list(self, request: Request) -> Response:
        """List redirects, latest first."""
        page = page_of(request)
        text = request.query_params.get("search", "").strip()
        if len(text) > 200 or "\x00" in text:
            raise invalid("search", "search can have at most 200 characters, without NUL.")
        type_ = choice_in(request, "type", TYPE_NAMES)
        rows = redirects(
            search=text,
            type=int(type_) if type_ else None,
            locale=choice_in(request, "locale", settings.CMS_ENV.locales),
            automatic=_BOOLEANS.get(choice_in(request, "automatic", tuple(_BOOLEANS)) or ""),
            active=_BOOLEANS.get(choice_in(request, "active", tuple(_BOOLEANS)) or ""),
        )
        found = [RedirectAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(request=NewRedirect, responses={201: RedirectAnswer}, parameters=[LOCATION])
    def create(self, request: Request) -> Response:
        """Create a redirect. Chains are collapsed; loops are refused."""
        row = create_redirect(actor=self.actor, redirect=read_body(request, NewRedirect))
        return Response(
            RedirectAnswer.of(row),
            status=201,
            headers={"Location": f"/api/redirects/{row.pk}"},
        )

    @extend_schema(responses=RedirectAnswer)
    def retrieve(self, request: Request, redirect_id: str) -> Response:
        """Return one redirect."""
        return Response(RedirectAnswer.of(find_redirect(redirect_id)))

    @extend_schema(request=RedirectChanges, responses=RedirectAnswer)
    def update(self, request: Request, redirect_id: str) -> Response:
        """Change a redirect; absent keys stay."""
        changes = read_body(request, RedirectChanges)
        row = change_redirect(redirect_id=redirect_id, actor=self.actor, changes=changes)
        return Response(RedirectAnswer.of(row))

    @extend_schema(responses={200: RedirectGoneAnswer})
    def destroy(self, request: Request, redirect_id: str) -> Response:
        """Delete a redirect: its address responds 404 again."""
        row = find_redirect(redirect_id)
        delete_redirect(redirect_id=row.pk, actor=self.actor)
        return Response(RedirectGoneAnswer(id=row.pk))


class RedirectFileViewSet(ApiViewSet):
    """Redirects as files."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("export", "import_lines"), "redirects.edit"
    )
    files = frozenset({"export"})

    @extend_schema(responses=_CSV)
    def export(self, request: Request) -> StreamingHttpResponse:
        """Return all redirects as CSV, by address."""
        record_export(actor=self.actor)
        return StreamingHttpResponse(
            export_lines(redirects().order_by("from_path", "id")),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="redirects.csv"'},
        )

    @extend_schema(request=RedirectFile, responses=RedirectImportAnswer)
    def import_lines(self, request: Request) -> Response:
        """Create redirects from all lines or none. Existing ones are changed."""
        body = read_body(request, RedirectFile)
        work = check_import if body.dry_run else import_redirects
        done = asdict(work(text=body.csv, actor=self.actor))
        return Response(RedirectImportAnswer.model_validate({"dry_run": body.dry_run, **done}))
