"""Filters of the log of calls. None asks the log for its values: that would read all of it."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from core.admin.long_lists import ValueFilter
from mcp_bridge.call_log import begin_of, names_of, principal_of, span_of
from mcp_bridge.models import McpCall, McpToken

Choices = list[tuple[str, str]]
_MOST: Final = 100
_LONGEST: Final = 128
_STATIC: Final = ("token", "header", "local")


class SpanFilter(ValueFilter):
    title = gettext_lazy("time")
    parameter_name = "span"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("day", _("Last 24 hours")),
            ("week", _("Last 7 days")),
            ("month", _("Last 30 days")),
        ]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        span = span_of(value)
        return rows.filter(created_at__gte=begin_of(span)) if span else rows.none()


class OutcomeFilter(ValueFilter):
    title = gettext_lazy("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("ok", _("Went well")), ("refused", _("Refused or failed"))]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(ok=value == "ok") if value in ("ok", "refused") else rows.none()


class _Chosen(ValueFilter):
    """Only shown where a link led here: the list of its values would be long, and search finds them."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        value = request.GET.get(self.parameter_name or "", "")[:_LONGEST]
        return [(value, value)] if value else []


class CodeFilter(_Chosen):
    title = gettext_lazy("reason")
    parameter_name = "code"

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(error_code=value[:_LONGEST])


class ToolFilter(_Chosen):
    title = gettext_lazy("tool")
    parameter_name = "tool"

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(tool=value[:_LONGEST])


class CallerFilter(ValueFilter):
    title = gettext_lazy("caller")
    parameter_name = "caller"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        tokens = McpToken.objects.order_by("-created_at").values_list("pk", "name")[:_MOST]
        static = sorted(names_of(_STATIC).items())
        return [*static, *((principal_of(id_), name) for id_, name in tokens)]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(principal=value[:100])


class AgentFilter(ValueFilter):
    title = gettext_lazy("agent")
    parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        users = User.objects.filter(agent_id__isnull=False).order_by("agent_id")
        return [(id_, id_) for id_ in users.values_list("agent_id", flat=True)[:_MOST] if id_]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(agent_id=value[:100])
