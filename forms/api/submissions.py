"""`/api/forms/:slug/submissions`: what visitors sent, for people who may read it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from forms.api import schema
from forms.export import csv_lines
from forms.form_input import clean_locale
from forms.models import FormSubmission
from forms.queries import submissions_of
from forms.services.submissions import delete_submission, find_submission, record_export
from proofroom.core.api.answer import list_of
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid


class SubmissionViewSet(ApiViewSet):
    """Submissions of a form: list, read, export, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "forms.submissions",
        "retrieve": "forms.submissions",
        "export": "forms.submissions",
        "destroy": "forms.submissions",
    }
    path_schemas = schema.PATHS
    files = frozenset({"export"})

    @extend_schema(
        parameters=schema.SUBMISSIONS,
        responses=list_of(schema.FormSubmissionAnswer, "Submissions, newest first."),
    )
    def list(self, request: Request, slug: str) -> Response:
        """Submissions, newest first."""
        page = page_of(request)
        rows = _chosen(request, slug)
        data = [schema.FormSubmissionAnswer.model_validate(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(responses=schema.FormSubmissionAnswer)
    def retrieve(self, request: Request, slug: str, submission_id: str) -> Response:
        """One submission."""
        row = find_submission(slug, submission_id)
        return Response(schema.FormSubmissionAnswer.model_validate(row))

    @extend_schema(responses=schema.FormSubmissionDeletedAnswer)
    def destroy(self, request: Request, slug: str, submission_id: str) -> Response:
        """Delete a submission, also from the log of events."""
        deleted = delete_submission(slug=slug, submission_id=submission_id, actor=self.actor)
        return Response(schema.FormSubmissionDeletedAnswer(id=deleted))

    @extend_schema(parameters=schema.CHOSEN, responses=schema.CSV)
    def export(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Submissions as CSV, newest first."""
        rows = _chosen(request, slug)
        record_export(slug=slug, actor=self.actor)
        lines = csv_lines(slug, rows)
        return StreamingHttpResponse(
            lines,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{slug}.csv"'},
        )


def _chosen(request: Request, slug: str) -> QuerySet[FormSubmission]:
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
