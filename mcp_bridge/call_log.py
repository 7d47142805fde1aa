"""Queries of the call log."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDay, TruncHour
from django.utils import timezone

from mcp_bridge.models import McpCall, McpToken
from proofroom.core.actor import Actor
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.oauth.connections import CONNECTION_PREFIX, connection_names

Span = Literal["day", "week", "month"]
SPANS: Final[dict[Span, timedelta]] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
_CLIENT: Final = "client:"
_MAX_REFUSALS: Final = 8
_NAMES: Final = {
    "token": "Environment token",
    "header": "Environment header",
    "local": "This machine",
}


def calls(
    *,
    tool: str | None = None,
    principal: str | None = None,
    ok: bool | None = None,
    code: str | None = None,
    agent_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> QuerySet[McpCall]:
    """Return the matching calls with their accounts, latest first."""
    wanted = {
        "tool": tool,
        "principal": principal,
        "ok": ok,
        "error_code": code,
        "agent_id": agent_id,
        "created_at__gte": since,
        "created_at__lt": until,
    }
    rows = McpCall.objects.filter(
        **{name: value for name, value in wanted.items() if value is not None}
    )
    return rows.select_related("user").order_by("-created_at", "-pk")


def principal_of(token: McpToken | UUID) -> str:
    """Return the principal in the log for calls with the token."""
    return f"{_CLIENT}{token.pk if isinstance(token, McpToken) else token}"


def caller_names(principals: Iterable[str]) -> dict[str, str]:
    """Return the name of each caller: the name of its token or connected client.

    At most one query for tokens and one for clients.
    """
    principals = set(principals)
    ids = {id_ for principal in principals if (id_ := token_id_of(principal)) is not None}
    connected = {
        id_
        for principal in principals
        if (id_ := parse_uuid(principal.removeprefix(CONNECTION_PREFIX))) is not None
    }
    clients = connection_names(connected) if connected else {}
    tokens = McpToken.objects.filter(pk__in=ids).values_list("pk", "name") if ids else ()
    found = {
        **_NAMES,
        **{principal_of(id_): name for id_, name in tokens},
        **{f"{CONNECTION_PREFIX}{id_}": name for id_, name in clients.items()},
    }
    return {principal: found.get(principal, principal) for principal in principals}


def client_names(principals: Collection[str], actor: Actor) -> dict[str, str]:
    """Return the names of callers that have one, for users who may view posts. At most two queries."""
    if not (actor.diagnoses or actor.can("posts.view")):
        return {}
    return {known: name for known, name in caller_names(principals).items() if name != known}


def with_caller_names(found: Iterable[McpCall]) -> list[McpCall]:
    """Return the calls, each with `caller_name` set. One query for all names."""
    rows = list(found)
    names = caller_names(row.principal for row in rows)
    for row in rows:
        row.caller_name = names[row.principal]
    return rows


def token_id_of(principal: str) -> UUID | None:
    """Return the id of the caller's token; None for other callers."""
    if not principal.startswith(_CLIENT):
        return None
    try:
        return UUID(principal.removeprefix(_CLIENT))
    except ValueError:
        return None


def parse_span(text: str | None) -> Span | None:
    """Return the span with that name, or None."""
    return next((span for span in SPANS if span == text), None)


def span_begin(span: Span) -> datetime:
    """Return the first full hour or day of the span in the user's time zone, so that the chart starts
    with a full column.
    """
    begin = timezone.localtime(timezone.now() - SPANS[span])
    if span == "day":
        hour = begin.replace(minute=0, second=0, microsecond=0)
        # Added in UTC, because local hours can be skipped or repeated.
        return hour.astimezone(UTC) + timedelta(hours=1)
    return begin.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CallCount:
    """The number of calls in an hour or a day, and of failed ones."""

    begin: datetime
    total: int
    failed: int


def count_by_time(rows: QuerySet[McpCall], span: Span) -> list[CallCount]:
    """Return the calls by hour, or by day for longer spans, including empty periods. One query."""
    begin, step = span_begin(span), timedelta(hours=1) if span == "day" else timedelta(days=1)
    place = TruncHour("created_at") if span == "day" else TruncDay("created_at")
    grouped = (
        rows.filter(created_at__gte=begin)
        .order_by()
        .annotate(begin=place)
        .values("begin")
        .annotate(total=Count("pk"), failed=Count("pk", filter=Q(ok=False)))
    )
    # Keyed by UTC, because local hours are ambiguous at the end of daylight saving time.
    found = {row["begin"].astimezone(UTC): CallCount(**row) for row in grouped}
    moments = (begin + number * step for number in range(24 if span == "day" else 366))
    now = timezone.now()
    return [found.get(at.astimezone(UTC), CallCount(at, 0, 0)) for at in moments if at <= now]


@dataclass(frozen=True, slots=True)
class Refusals:
    """The number of refusals of a tool for one reason."""

    tool: str
    code: str
    count: int


def most_refused(rows: QuerySet[McpCall], span: Span) -> list[Refusals]:
    """Return the most frequent refusals in the span. One query."""
    grouped = (
        rows.filter(created_at__gte=span_begin(span), ok=False)
        .order_by()
        .values("tool", "error_code")
        .annotate(count=Count("pk"))
        .order_by("-count", "tool", "error_code")[:_MAX_REFUSALS]
    )
    return [Refusals(row["tool"], row["error_code"], row["count"]) for row in grouped]
