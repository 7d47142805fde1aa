"""`/api/public/changes`: what became stale, for frontends that missed webhooks or build in steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar, Final, Literal

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.cached_delivery import DeliveredViewSet
from content.store.live_changes import oldest_change
from proofroom.core.api.answer import Answer
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import moment_in
from proofroom.core.api.schema import parameter_names, query_parameter
from proofroom.core.errors import Gone, RuleViolation, invalid
from proofroom.core.models import LiveChange

LIMIT: Final = 100
MAX_LIMIT: Final = 1000
_CURSOR: Final = re.compile(r"c([0-9]{1,18})\.([0-9]{1,11})", re.ASCII)
_LIMIT: Final = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
PARAMETERS: Final = [
    query_parameter(
        "since",
        "`next` of the last answer, or a time such as 2026-01-31T12:00:00Z. Without it there are no rows.",
        {"type": "string", "maxLength": 40},
    ),
    query_parameter(
        "limit",
        f"Number of rows, at most {MAX_LIMIT:,}.",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": LIMIT},
    ),
]


class LiveChangeAnswer(Answer):
    """A tag of `Cache-Tag`, with an address of it. `path` is null where a change of the tag names no page."""

    tag: str
    path: str | None
    kind: Literal["changed", "gone"]
    at: datetime


class LiveChangeListAnswer(Answer):
    """What became stale, oldest first. With fewer rows than `limit` there are no more for now."""

    data: list[LiveChangeAnswer]
    next: str = Field(description="Send it as `since` of the next call.")


class PublicChangeViewSet(DeliveredViewSet):
    """Changes of public content."""

    permissions: ClassVar[dict[str, Declared]] = {"list": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {"list": parameter_names(PARAMETERS)}
    cache_control = "no-store"
    # Rows come a moment after the content, so that no state of the content has all of its rows.
    is_cached = False

    @extend_schema(parameters=PARAMETERS, responses=LiveChangeListAnswer)
    def list(self, request: Request) -> Response:
        """List what became stale since a cursor or a time."""
        limit, since = _limit_of(request.query_params), request.query_params.get("since")
        # Before the rows are read, so that the cursor is never younger than the rows that follow it.
        now, rows = timezone.now(), LiveChange.objects.order_by("pk")
        cursor = _CURSOR.fullmatch(since or "")
        if cursor is not None:
            moment: datetime | None = datetime.fromtimestamp(int(cursor[2]), UTC)
            rows = rows.filter(pk__gt=int(cursor[1]))
        else:
            try:
                moment = moment_in(request, "since")
            except RuleViolation:
                raise invalid(
                    "since",
                    "since must be `next` of an earlier answer, or a time such as 2026-01-31T12:00:00Z.",
                ) from None
            rows = rows.filter(at__gt=moment) if moment is not None else rows.none()
        if moment is not None and moment < oldest_change(settings.CMS_ENV.changes_keep_days):
            raise Gone(
                "The changes since then are no longer known. Read everything again, and begin with "
                "the cursor that this address answers without since.",
                code="changes_gone",
            )
        # Read before the rows, too: a row that is added meanwhile is in the next answer.
        newest = LiveChange.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        found = list(rows.filter(pk__lte=newest)[:limit])
        if len(found) == limit:
            following = _cursor(found[-1].pk, found[-1].at)
        else:
            following = _cursor(max(newest, int(cursor[1]) if cursor else 0), now)
        data = [
            LiveChangeAnswer(
                tag=row.tag, path=row.path, kind="gone" if row.is_gone else "changed", at=row.at
            )
            for row in found
        ]
        return Response(LiveChangeListAnswer(data=data, next=following))


def _cursor(last: int, moment: datetime) -> str:
    """Return a cursor: the last row that was read, and the time at which there was no later one."""
    # Rounded down, so that it is never younger than its row.
    return f"c{last}.{int(moment.timestamp())}"


def _limit_of(query: Mapping[str, str]) -> int:
    text = query.get("limit", str(LIMIT))
    number = int(text) if _LIMIT.fullmatch(text) else 0
    if not 1 <= number <= MAX_LIMIT:
        raise invalid("limit", f"limit must be a whole number from 1 to {MAX_LIMIT:,}.")
    return number
