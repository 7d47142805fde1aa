"""`/api/forms/:slug/submit` for visitors, and `/api/forms/:slug/submissions` for people who may read submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseRedirect, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import Field
from rest_framework.exceptions import Throttled
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from forms.api.definitions import LOCALE, PATHS
from forms.confirmation import format_answer
from forms.fields import MAX_BODY_BYTES
from forms.form_input import clean_locale
from forms.models import FormSubmission
from forms.queries import columns_of, submission_limit, submissions_of
from forms.rendering import goal_of
from forms.services.files import open_file, with_links
from forms.services.submissions import (
    delete_submission,
    find_submission,
    record_export,
    record_view,
    submit_form,
)
from forms.uploads import count_files, read_files
from proofroom.core.actor import Actor, Visitor
from proofroom.core.api.answer import Answer, TextOrNull, list_of
from proofroom.core.api.body import body_length, body_object
from proofroom.core.api.django_request import django_request
from proofroom.core.api.json_format import StrictJsonParser
from proofroom.core.api.negotiation import IgnoreAcceptNegotiation
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import moment_in, uuid_in
from proofroom.core.api.schema import PAGES, UUID_TEXT, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.caching.rate_limits import count_caller, set_rate_limit_headers
from proofroom.core.csv_export import header_line, line
from proofroom_apps.website import goals

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
FILE_LINK: Final = [query_parameter("token", "The signature in the link.")]
FILE: Final = {
    (200, "application/octet-stream"): {
        "type": "string",
        "format": "binary",
        "description": "The file, as an attachment.",
    }
}
_CSV_CHUNK_SIZE: Final = 500


class FormSubmissionAnswer(Answer):
    """A submission by a visitor."""

    id: UUID
    form_slug: str
    locale: str
    payload: dict[str, Any] = Field(
        description="The values by field name. A file is `{id, filename, type, size, url, expiresAt}`."
    )
    created_at: datetime

    @classmethod
    def of_row(cls, row: FormSubmission) -> FormSubmissionAnswer:
        """Return the submission with links to its files."""
        return cls(
            id=row.pk,
            form_slug=row.form_slug,
            locale=row.locale,
            payload=with_links(row),
            created_at=row.created_at,
        )


class FormSubmissionDeletedAnswer(Answer):
    """The deleted submission."""

    id: UUID


class SubmissionViewSet(ApiViewSet):
    """Submissions of a form: list, read, export, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "forms.submissions",
        "retrieve": "forms.submissions",
        "file": "forms.submissions",
        "export": "forms.submissions",
        "destroy": "forms.submissions",
    }
    path_schemas = PATHS
    files = frozenset({"export", "file"})

    @extend_schema(
        parameters=[*FILTER, *PAGES],
        responses=list_of(FormSubmissionAnswer, "Submissions, newest first."),
    )
    def list(self, request: Request, slug: str) -> Response:
        """List submissions, newest first."""
        page = page_of(request)
        rows = _filtered(request, slug)
        found = list(rows[page.slice])
        record_view(rows=found, actor=self.actor)
        data = [FormSubmissionAnswer.of_row(row) for row in found]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(responses=FormSubmissionAnswer)
    def retrieve(self, request: Request, slug: str, submission_id: str) -> Response:
        """Return one submission."""
        row = find_submission(slug, submission_id)
        record_view(rows=[row], actor=self.actor)
        return Response(FormSubmissionAnswer.of_row(row))

    @extend_schema(parameters=FILE_LINK, responses=FILE)
    def file(self, request: Request, slug: str, submission_id: str, file_id: str) -> HttpResponse:
        """Download a file of a submission by the link that the submission names. It expires after 15 minutes."""
        row = find_submission(slug, submission_id)
        file, filename = open_file(
            submission=row,
            file_id=file_id,
            token=request.query_params.get("token", ""),
            actor=self.actor,
        )
        response = HttpResponse(
            bytes(file.content),
            # Never a type that a browser would show as a page of this site.
            content_type="application/octet-stream",
            headers={"Content-Disposition": content_disposition_header(True, filename) or ""},
        )
        response["X-Content-Type-Options"] = "nosniff"
        return response

    @extend_schema(responses=FormSubmissionDeletedAnswer)
    def destroy(self, request: Request, slug: str, submission_id: str) -> Response:
        """Delete a submission, also from the event log."""
        deleted = delete_submission(slug=slug, submission_id=submission_id, actor=self.actor)
        return Response(FormSubmissionDeletedAnswer(id=deleted))

    @extend_schema(parameters=FILTER, responses=CSV)
    def export(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Export submissions as CSV, newest first."""
        rows = _filtered(request, slug)
        record_export(slug=slug, count=rows.count(), actor=self.actor)
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
        since=moment_in(request, "from"),
        until=moment_in(request, "to", is_end=True),
    )


def csv_lines(slug: str, rows: QuerySet[FormSubmission]) -> Iterator[str]:
    """Yield the lines of the file, header first. One column per field, titled by its label."""
    # The header needs all columns, so a first pass over the rows finds them.
    payloads = rows.order_by().values_list("payload", flat=True)
    columns = columns_of(slug, payloads.iterator(chunk_size=_CSV_CHUNK_SIZE))
    uses = Counter(columns.values())
    # Labels shared by several fields get the name appended.
    titles = [label if uses[label] == 1 else f"{label} ({name})" for name, label in columns.items()]
    yield header_line(["ID", "Submitted", "Locale", *titles])
    for row in rows.iterator(chunk_size=_CSV_CHUNK_SIZE):
        at = row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        values = [row.payload.get(name) for name in columns]
        # The chosen options are one text, and a file is its name.
        cells = [format_answer(one) if isinstance(one, list | dict) else one for one in values]
        yield line([str(row.pk), at, row.locale, *cells])


PARAMETERS: Final = [
    *LOCALE,
    query_parameter(
        "postId",
        "The post whose page the visitor sent it from: it then counts as a conversion of that post.",
        UUID_TEXT,
    ),
]


class FormSubmittedAnswer(Answer):
    """The response to the visitor."""

    id: UUID
    success_message: str
    redirect_url: TextOrNull


_BODY: Final = {
    "type": "object",
    "description": "Values by the names of the form's fields; `checkboxes` takes a list, `file` needs multipart.",
    "additionalProperties": True,
}
BODY: Final = {
    "application/json": _BODY,
    "application/x-www-form-urlencoded": _BODY,
    "multipart/form-data": _BODY,
}
ANSWER: Final = {
    201: FormSubmittedAnswer,
    303: OpenApiResponse(
        description="For a plain HTML form in a browser, if the form has a redirectUrl."
    ),
}


class SeeOther(HttpResponseRedirect):
    status_code = 303


class SubmitViewSet(ApiViewSet):
    """The public endpoint for submissions. It ignores sessions, so a forged request gains nothing."""

    authentication_classes = ()
    parser_classes = (StrictJsonParser, FormParser, MultiPartParser)
    content_negotiation_class = (
        IgnoreAcceptNegotiation  # browsers that accept only HTML are redirected
    )
    throttle_scope = "public"
    permissions: ClassVar[dict[str, Declared]] = {"submit": PUBLIC}
    path_schemas = PATHS

    @extend_schema(parameters=PARAMETERS, request=BODY, responses=ANSWER)
    def submit(self, request: Request, slug: str) -> HttpResponseBase:
        """Submit a form. Only accepted submissions count against the hourly limit."""
        locale = request.query_params.get("locale")
        # Before the body is read.
        if body_length(request) > MAX_BODY_BYTES:
            is_multipart = (request.content_type or "").startswith("multipart/form-data")
            if not is_multipart or body_length(request) > submission_limit(slug, locale):
                raise RequestDataTooBig
        # The post the visitor saw, if the frontend names it.
        post_id = uuid_in(request, "postId")
        values: dict[str, Any]
        files: dict[str, UploadedFile[bytes]] = {}
        if not isinstance(request.data, QueryDict):
            values = body_object(request)
        else:
            files = read_files(request.FILES)
            # A repeated name becomes a list.
            values = {
                name: sent[0] if len(sent) == 1 else sent
                for name, sent in request.data.lists()
                if name not in files
            }

        def admit() -> None:
            # Called only for valid submissions. Addresses without limits are not counted.
            count = count_caller("forms", request)
            if count is not None:
                set_rate_limit_headers(django_request(request), count)
                if count.is_over:
                    raise Throttled(wait=count.wait)
            wait = count_files(request, files)
            if wait:
                raise Throttled(wait=wait)

        receipt = submit_form(
            slug=slug,
            locale=locale,
            values=values,
            actor=Actor(user=Visitor(), via="site"),
            admit=admit,
            files=files,
        )
        if receipt.is_kept and post_id is not None:
            goals.report_goal(django_request(request), post_id=post_id, goal=goal_of(slug))
        is_page = isinstance(request.data, QueryDict)
        if is_page and receipt.redirect_url and "text/html" in request.META.get("HTTP_ACCEPT", ""):
            return SeeOther(receipt.redirect_url)
        return Response(FormSubmittedAnswer.of(receipt), status=201)
