"""`/api/forms/:slug/submissions`: what visitors sent, for people who may read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from forms.api.definitions import PATHS
from forms.form_input import clean_locale
from forms.models import FormSubmission
from forms.queries import columns_of, submissions_of
from forms.services.submissions import delete_submission, find_submission, record_export
from proofroom.core.api.answer import Answer, list_of
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.csv_export import header_line, line
from proofroom.core.errors import invalid

FILTER: Final = [
    query_parameter("from", "Date or time (ISO 8601) of the oldest."),
    query_parameter("to", "Date or time of the latest; a date counts whole."),
    query_parameter("locale", "Sent to the form in this language."),
]
CSV: Final = {
    (200, "text/csv"): {
        "type": "string",
        "description": "A header of labels, then a line for each.",
    }
}
_CSV_CHUNK_SIZE: Final = 500


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


class SubmissionViewSet(ApiViewSet):
    """Submissions of a form: list, read, export, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "forms.submissions",
        "retrieve": "forms.submissions",
        "export": "forms.submissions",
        "destroy": "forms.submissions",
    }
    path_schemas = PATHS
    files = frozenset({"export"})

    @extend_schema(
        parameters=[*FILTER, *PAGES],
        responses=list_of(FormSubmissionAnswer, "Submissions, newest first."),
    )
    def list(self, request: Request, slug: str) -> Response:
        """Submissions, newest first."""
        page = page_of(request)
        rows = _filtered(request, slug)
        data = [FormSubmissionAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(responses=FormSubmissionAnswer)
    def retrieve(self, request: Request, slug: str, submission_id: str) -> Response:
        """One submission."""
        row = find_submission(slug, submission_id)
        return Response(FormSubmissionAnswer.of(row))

    @extend_schema(responses=FormSubmissionDeletedAnswer)
    def destroy(self, request: Request, slug: str, submission_id: str) -> Response:
        """Delete a submission, also from the log of events."""
        deleted = delete_submission(slug=slug, submission_id=submission_id, actor=self.actor)
        return Response(FormSubmissionDeletedAnswer(id=deleted))

    @extend_schema(parameters=FILTER, responses=CSV)
    def export(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Submissions as CSV, newest first."""
        rows = _filtered(request, slug)
        record_export(slug=slug, actor=self.actor)
        lines = csv_lines(slug, rows)
        return StreamingHttpResponse(
            lines,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{slug}.csv"'},
        )


def _filtered(request: Request, slug: str) -> QuerySet[FormSubmission]:
    given = request.query_params.get("locale")
    return submissions_of(
        slug,
        locale=clean_locale(given) if given is not None else None,
        since=_moment(request, "from"),
        until=_moment(request, "to", is_end=True),
    )


def _moment(request: Request, name: str, *, is_end: bool = False) -> datetime | None:
    """The time that the query names, in UTC unless it says otherwise. A date is its first moment, or its end."""
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        if len(text) <= 10:
            day = datetime.combine(date.fromisoformat(text), time(), UTC)
            return day + timedelta(days=1) if is_end else day
        moment = parse_datetime(text) if len(text) <= 40 else None
        if moment is not None:
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise invalid(name, f"{name} must be a date or a time, such as 2026-01-31.")


def csv_lines(slug: str, rows: QuerySet[FormSubmission]) -> Iterator[str]:
    """The lines of the file, the header first. A column per field, by its label."""
    payloads = rows.order_by().values_list("payload", flat=True)
    columns = columns_of(slug, payloads.iterator(chunk_size=_CSV_CHUNK_SIZE))
    uses = Counter(columns.values())
    # With the name where two fields share a label.
    titles = [label if uses[label] == 1 else f"{label} ({name})" for name, label in columns.items()]
    yield header_line(["ID", "Submitted", "Locale", *titles])
    for row in rows.iterator(chunk_size=_CSV_CHUNK_SIZE):
        at = row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        cells = [row.payload.get(name) for name in columns]
        yield line([str(row.pk), at, row.locale, *cells])
