"""`/api/public/changes`: what became stale, for frontends that missed webhooks or build in steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, Literal

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.delivery.viewset import DeliveredViewSet
from content.store.live_changes import oldest_change
from proofroom.core.api.answer import Answer
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import moment_in
from proofroom.core.api.schema import parameter_names, query_parameter
from proofroom.core.database.replica import from_replica
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
    """A tag of `Cache-Tag`, and the path of the page that changed. `path` is null if the change names no page."""

    tag: str
    path: str | None
    kind: Literal["changed", "gone"]
    at: datetime


class LiveChangeListAnswer(Answer):
    """What became stale, oldest first. With fewer rows than `limit` there are no more for now."""

    data: list[LiveChangeAnswer]
    next: str = Field(description="Send it as `since` of the next call.")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row that was read, and its time or a later one at which it was still the last."""

    row: int
    moment: datetime

    @classmethod
    def parse(cls, text: str) -> Cursor | None:
        """Parse `since`. None for anything else than a cursor."""
        found = _CURSOR.fullmatch(text)
        return cls(int(found[1]), datetime.fromtimestamp(int(found[2]), UTC)) if found else None

    def __str__(self) -> str:
        return f"c{self.row}.{int(self.moment.timestamp())}"

    def may_have_seen(self, row: LiveChange) -> bool:
        """Return whether the row of this number may be the one that was read.

        After a failover or the restore of a backup, later rows can get the numbers of lost ones.
        """
        return row.at < self.moment + timedelta(seconds=1)  # a cursor has no fractions of a second


class PublicChangeViewSet(DeliveredViewSet):
    """Changes of public content."""

    permissions: ClassVar[dict[str, Declared]] = {"list": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {"list": parameter_names(PARAMETERS)}
    cache_control = "no-store"
    # A worker adds the rows of a change after the change, so that no state of the content has all of its rows.
    is_cached = False

    @extend_schema(parameters=PARAMETERS, responses=LiveChangeListAnswer)
    def list(self, request: Request) -> Response:
        """List what became stale since a cursor or a time."""
        limit, since = _limit_of(request.query_params), request.query_params.get("since")
        cursor = Cursor.parse(since or "")
        if cursor is not None:
            moment: datetime | None = cursor.moment
        else:
            try:
                moment = moment_in(request, "since")
            except RuleViolation:
                raise invalid(
                    "since",
                    "since must be `next` of an earlier answer, or a time such as 2026-01-31T12:00:00Z.",
                ) from None
        if moment is not None and moment < oldest_change(settings.CMS_ENV.changes_keep_days):
            raise _changes_gone()
        # From where the content is read: a frontend that learns of a change must find it there.
        with from_replica():
            found, following = _read(cursor, moment, limit)
        data = [
            LiveChangeAnswer(
                tag=row.tag, path=row.path, kind="gone" if row.is_gone else "changed", at=row.at
            )
            for row in found
        ]
        return Response(LiveChangeListAnswer(data=data, next=str(following)))


def _read(
    cursor: Cursor | None, since: datetime | None, limit: int
) -> tuple[list[LiveChange], Cursor]:
    """Return the rows after a cursor or a time, and the cursor of the next call. Two queries."""
    # Both before the rows: a row that is added meanwhile is in the next answer.
    now = timezone.now()
    newest = _last_row(LiveChange.objects.all())
    rows = LiveChange.objects.filter(pk__lte=newest.row)
    if cursor is None:
        found = list(rows.filter(at__gt=since).order_by("pk")[:limit]) if since is not None else []
    elif newest.row < cursor.row:
        # The row of the cursor expired, a replica does not have it yet, or it was lost.
        last = _last_row(LiveChange.objects.using(DEFAULT_DB_ALIAS))
        if 0 < last.row < cursor.row:
            # By a failover or the restore of a backup.
            raise _changes_gone()
        return [], cursor if last.row else Cursor(cursor.row, now)
    else:
        # With the row of the cursor itself.
        found = list(rows.filter(pk__gte=cursor.row).order_by("pk")[: limit + 1])
        if found and found[0].pk == cursor.row:
            own = found.pop(0)
            if not cursor.may_have_seen(own):
                raise _changes_gone()
        found = found[:limit]
    if len(found) == limit:
        return found, Cursor(found[-1].pk, found[-1].at)
    return found, Cursor(newest.row, now)


def _last_row(rows: QuerySet[LiveChange]) -> Cursor:
    last = rows.order_by("-pk").values_list("pk", "at").first()
    return Cursor(*last) if last is not None else Cursor(0, datetime.fromtimestamp(0, UTC))


def _changes_gone() -> Gone:
    return Gone(
        "The changes since then are no longer known. Read everything again, and begin with "
        "the cursor that this address answers without since.",
        code="changes_gone",
    )


def _limit_of(query: Mapping[str, str]) -> int:
    text = query.get("limit", str(LIMIT))
    number = int(text) if _LIMIT.fullmatch(text) else 0
    if not 1 <= number <= MAX_LIMIT:
        raise invalid("limit", f"limit must be a whole number from 1 to {MAX_LIMIT:,}.")
    return number
