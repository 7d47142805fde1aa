"""`/api/redirects/export` and `/import`: all redirects as CSV, and from CSV."""

from __future__ import annotations

from typing import ClassVar

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.body import Body, Words, read_body
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from seo import presenters
from seo.api import schema
from seo.queries import redirects
from seo.redirect_lines import MOST_CHARACTERS, exported
from seo.services.importing import check_import, import_redirects
from seo.services.redirects import record_export


class RedirectFile(Body):
    """Redirects as CSV: columns fromPath, toPath and, if wanted, type (301) and active (true)."""

    csv: Words = Field(min_length=1, max_length=MOST_CHARACTERS)
    dry_run: bool = Field(False, description="true: say what it would do, and change nothing.")


class RedirectFileViewSet(ApiViewSet):
    """Redirects as files."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("export", "import_lines"), "redirects.edit"
    )
    files = frozenset({"export"})

    @extend_schema(responses=schema.REDIRECT_CSV)
    def export(self, request: Request) -> StreamingHttpResponse:
        """All redirects as CSV, by address."""
        record_export(actor=self.actor)
        return StreamingHttpResponse(
            exported(redirects().order_by("from_path", "id")),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="redirects.csv"'},
        )

    @extend_schema(request=RedirectFile, responses=schema.RedirectImportSchema)
    def import_lines(self, request: Request) -> Response:
        """Lead on from each line's address: all lines or none. What is there already changes."""
        body = read_body(request, RedirectFile)
        work = check_import if body.dry_run else import_redirects
        done = work(text=body.csv, actor=self.actor)
        return Response({"dryRun": body.dry_run, **presenters.imported(done)})
