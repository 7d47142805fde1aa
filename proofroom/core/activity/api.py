"""`/api/activity`: who did what, when and through which channel."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.activity import queries
from proofroom.core.activity.export import export
from proofroom.core.activity.presenters import CHANNEL_LABELS, EntryAnswer, present
from proofroom.core.activity.queries import ActivityFilter, names_of
from proofroom.core.api.answer import Answer, MetaAnswer, described
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in, moment_in, uuid_in
from proofroom.core.api.schema import (
    PAGES,
    UUID_TEXT,
    choice_schema,
    integer_schema,
    query_parameter,
)
from proofroom.core.api.views import ApiViewSet
from proofroom.core.database.row_counts import count_rows
from proofroom.core.errors import invalid

# The largest bigint. A larger id would be a database error instead of a 404 or 422.
_BIGGEST: Final = 2**63 - 1
_TYPES: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


_ID: Final = integer_schema(0, 2**63 - 1)
PATH_PARAMETERS: Final = {"entry_id": _ID}
_FILTERS: Final = [
    query_parameter(
        "event", "The name of an event, like post.published, or the first part of names, like post."
    ),
    query_parameter("actor", "The id of an account.", _ID),
    query_parameter("via", "The door.", choice_schema(*CHANNEL_LABELS)),
    query_parameter("agentId", "The id of an agent.", {"type": "string", "maxLength": 80}),
    query_parameter("postId", "What happened to this post.", UUID_TEXT),
    query_parameter("from", "Date or time (ISO 8601) of the oldest."),
    query_parameter("to", "Date or time (ISO 8601) of the newest; a date is its end."),
    query_parameter("before", "The id of an entry: only older ones.", _ID),
]
LIST_PARAMETERS: Final = [*_FILTERS, *PAGES]
EXPORT_PARAMETERS: Final = [
    *_FILTERS,
    query_parameter("format", "The kind of file.", choice_schema("csv", "jsonl")),
]
FILE_RESPONSES: Final = {
    (200, "text/csv"): {"type": "string", "description": "A header, then a line for each entry."},
    (200, "application/jsonl"): {"type": "string", "description": "An entry in each line."},
}


class ActivityListAnswer(Answer):
    """Entries, newest first."""

    data: list[EntryAnswer]
    meta: MetaAnswer


class ActivityViewSet(ApiViewSet):
    """The activity log: list, read one entry, export."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "settings.manage",
        "retrieve": "settings.manage",
        "export": "settings.manage",
    }
    path_schemas = PATH_PARAMETERS
    files = frozenset({"export"})

    @extend_schema(parameters=LIST_PARAMETERS, responses=ActivityListAnswer)
    def list(self, request: Request) -> Response:
        """Entries, newest first. `total` is exact to 10,000; `before` keeps pages stable as entries arrive."""
        page = page_of(request)
        rows = queries.filter_activity(_parse_filter(request))
        found = present(list(rows[page.slice]), self.actor)
        return Response(page.envelope(found, count_rows(rows)))

    @extend_schema(responses=described(EntryAnswer))
    def retrieve(self, request: Request, entry_id: str) -> Response:
        """One entry."""
        # Ids start at 1, so 0 is never found.
        entry = queries.find_entry(_parse_id(entry_id) or 0)
        return Response(present([entry], self.actor)[0])

    @extend_schema(parameters=EXPORT_PARAMETERS, responses=FILE_RESPONSES)
    def export(self, request: Request) -> StreamingHttpResponse:
        """The filtered entries as a file, newest first. The export is logged itself."""
        given = request.query_params.get("format", "csv")
        if given not in ("csv", "jsonl"):
            raise invalid("format", "format must be csv or jsonl.")
        known: dict[str, Literal["csv", "jsonl"]] = {"csv": "csv", "jsonl": "jsonl"}
        format_ = known[given]
        lines = export(chosen=_parse_filter(request), format=format_, actor=self.actor)
        name = f"activity-{timezone.now():%Y-%m-%d}.{format_}"
        return StreamingHttpResponse(
            lines,
            content_type=_TYPES[format_],
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


def _parse_filter(request: Request) -> ActivityFilter:
    given = request.query_params
    event = given.get("event")
    if event is not None and not names_of(event):
        raise invalid("event", f"There is no event {event[:80]!r}.")
    agent_id = given.get("agentId")
    # PostgreSQL refuses NUL in a text parameter.
    if agent_id is not None and ("\x00" in agent_id or len(agent_id) > 80):
        raise invalid("agentId", "agentId must be the id of an agent.")
    return ActivityFilter(
        event=event,
        actor=_id_param(request, "actor"),
        via=choice_in(request, "via", CHANNEL_LABELS),
        agent_id=agent_id,
        post_id=uuid_in(request, "postId"),
        since=moment_in(request, "from"),
        until=moment_in(request, "to", is_end=True),
        before=_id_param(request, "before"),
    )


def _parse_id(text: str) -> int | None:
    is_one = text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= _BIGGEST
    return int(text) if is_one else None


def _id_param(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    found = None if text is None else _parse_id(text)
    if text is not None and found is None:
        raise invalid(name, f"{name} must be a whole number.")
    return found
