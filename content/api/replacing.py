"""`/api/database/find-replace`: one text for another over the whole site, and back."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.schema import replacing as schema
from content.models import Replacement
from content.presenters import replacing as presenters
from content.services.find_replace import (
    FIND_MAX,
    REPLACE_MAX,
    find_and_replace,
    undo_replacement,
)
from core.api.body import Body, Words, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet


class FindReplace(Body):
    find: Annotated[Words, Field(min_length=1, max_length=FIND_MAX)]
    replace: Annotated[Words, Field(max_length=REPLACE_MAX)]
    tables: Annotated[list[Words], Field(min_length=1, max_length=20)]
    dry_run: bool = False
    case_sensitive: bool = True


class FindReplaceUndo(Body):
    """Nothing is said beside the address."""


class FindReplaceViewSet(ApiViewSet):
    """Find and replace: do it, list what was done, undo it."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "database.manage",
        "create": "database.manage",
        "undo": "database.manage",
    }

    @extend_schema(parameters=schema.PAGES, responses=schema.ReplacementListSchema)
    def list(self, request: Request) -> Response:
        """What was replaced, the latest first."""
        page = page_of(request)
        rows = Replacement.objects.order_by("-created_at", "id")
        data = [presenters.replacement(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=FindReplace, responses={200: schema.ReplacedSchema})
    def create(self, request: Request) -> Response:
        """Replace a text in these tables, in one transaction. With `dryRun`, say what that would do."""
        body = read_body(request, FindReplace)
        done = find_and_replace(
            actor=self.actor,
            find=body.find,
            replace=body.replace,
            tables=body.tables,
            is_case_sensitive=body.case_sensitive,
            is_dry_run=body.dry_run,
        )
        return Response(presenters.replaced(done, is_dry_run=body.dry_run))

    @extend_schema(request=FindReplaceUndo, responses={200: schema.UndoneSchema})
    def undo(self, request: Request, replacement_id: str) -> Response:
        """Put back what stood there before; what somebody changed since stays, and is named."""
        read_body(request, FindReplaceUndo)
        return Response(
            presenters.undone(undo_replacement(actor=self.actor, replacement_id=replacement_id))
        )
