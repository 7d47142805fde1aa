"""`/api/database/find-replace`: replace a text on the whole site, and undo it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.find_replace.services import (
    FIND_MAX,
    REPLACE_MAX,
    SAMPLE_SIZE,
    find_and_replace,
    sample_of,
    undo_replacement,
)
from content.models import Replacement
from proofroom.core.api.answer import Answer, PersonAnswer, list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet

Count = Annotated[int, Field(ge=0)]


class KeptPlaceAnswer(Answer):
    """A place that was not restored."""

    table: str
    id: str
    field: str


class ReplacedPlaceAnswer(Answer):
    """A place, with both texts around the difference."""

    table: str
    id: str
    field: str
    before: str
    after: str


class ReplacedAnswer(Answer):
    """The replacements made, or to be made."""

    id: UUID | None = Field(description="The ID for undoing it; null if nothing was replaced.")
    dry_run: bool
    total: int = Field(ge=0)
    tables: dict[str, Count]
    sample: list[ReplacedPlaceAnswer] = Field(description="The first 50 matches.")


class ReplacementAnswer(Answer):
    """A replacement of a text."""

    id: UUID
    find: str
    replace: str
    case_sensitive: bool
    whole_words: bool
    total: int = Field(ge=0)
    tables: dict[str, Count]
    by: PersonAnswer
    created_at: datetime
    undone_at: datetime | None


class UndoneAnswer(Answer):
    """The result of undoing."""

    id: UUID
    restored: int = Field(ge=0)
    kept_total: int = Field(ge=0)
    kept: list[KeptPlaceAnswer] = Field(description="The first 50 matches that were not replaced.")


class FindReplace(Body):
    find: Annotated[Words, Field(min_length=1, max_length=FIND_MAX)]
    replace: Annotated[Words, Field(max_length=REPLACE_MAX)]
    tables: Annotated[list[Words], Field(min_length=1, max_length=20)]
    dry_run: bool = False
    case_sensitive: bool = True
    whole_words: bool = False


class FindReplaceUndo(Body):
    """An empty body."""


class FindReplaceViewSet(ApiViewSet):
    """Find and replace: run, list, undo."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "database.manage",
        "create": "database.manage",
        "undo": "database.manage",
    }

    @extend_schema(
        parameters=PAGES,
        responses=list_of(ReplacementAnswer, "What was replaced, the latest first."),
    )
    def list(self, request: Request) -> Response:
        """List replacements, newest first."""
        page = page_of(request)
        rows = Replacement.objects.order_by("-created_at", "id")
        data = [
            ReplacementAnswer.of(
                row,
                # A row's own `tables` are the requested ones, also those without a hit.
                tables=row.counts,
                by=PersonAnswer(id=row.by_id, username=row.by_name),
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=FindReplace, responses={200: ReplacedAnswer})
    def create(self, request: Request) -> Response:
        """Replace a text in these tables, in one transaction. With `dryRun`, only report the effects."""
        body = read_body(request, FindReplace)
        done = find_and_replace(
            actor=self.actor,
            find=body.find,
            replace=body.replace,
            tables=body.tables,
            is_case_sensitive=body.case_sensitive,
            is_whole_words=body.whole_words,
            is_dry_run=body.dry_run,
        )
        return Response(
            ReplacedAnswer(
                id=done.row.pk if done.row else None,
                dry_run=body.dry_run,
                total=len(done.places),
                tables=done.counts,
                sample=[ReplacedPlaceAnswer.of(place) for place in sample_of(done.places)],
            )
        )

    @extend_schema(request=FindReplaceUndo, responses={200: UndoneAnswer})
    def undo(self, request: Request, replacement_id: str) -> Response:
        """Restore the earlier values; values changed since stay and are listed."""
        read_body(request, FindReplaceUndo)
        done = undo_replacement(actor=self.actor, replacement_id=replacement_id)
        return Response(
            UndoneAnswer(
                id=done.row.pk,
                restored=done.restored,
                kept_total=len(done.kept),
                kept=[
                    KeptPlaceAnswer(table=table, id=row, field=field)
                    for table, row, field in done.kept[:SAMPLE_SIZE]
                ],
            )
        )
