"""The call log in the admin: list, filters, and a chart of calls and failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mcp_bridge import call_log
from mcp_bridge.call_log import CallCount, caller_names, parse_span, principal_of, span_begin
from mcp_bridge.models import McpCall, McpToken
from proofroom.accounts.models import User
from proofroom.core.admin.bounded_lists import BoundedPaginator, ValueFilter
from proofroom.core.admin.charts import HEIGHT, Upright, upright
from proofroom.core.admin.lists import ListAdmin, ViewChangeList
from proofroom.core.agent_directory import agent_name
from proofroom.core.tools import all_tools

FilterChoices = list[tuple[str, str]]
_MAX_CHOICES: Final = 100
_MAX_VALUE_LENGTH: Final = 128
_STATIC: Final = ("token", "header", "local")


class SpanFilter(ValueFilter):
    title = gettext_lazy("time")
    parameter_name = "span"

    def lookups(self, request: HttpRequest, model_admin: Any) -> FilterChoices:
        return [
            ("day", _("Last 24 hours")),
            ("week", _("Last 7 days")),
            ("month", _("Last 30 days")),
        ]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        span = parse_span(value)
        return rows.filter(created_at__gte=span_begin(span)) if span else rows.none()


class CallOutcomeFilter(ValueFilter):
    title = gettext_lazy("result")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> FilterChoices:
        return [("ok", _("Succeeded")), ("refused", _("Rejected or failed"))]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(ok=value == "ok") if value in ("ok", "refused") else rows.none()


class LinkedFilter(ValueFilter):
    """Shown only if a link set its value: the list of all values would be long, and search finds them."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> FilterChoices:
        value = request.GET.get(self.parameter_name or "", "")[:_MAX_VALUE_LENGTH]
        return [(value, value)] if value else []


class CodeFilter(LinkedFilter):
    title = gettext_lazy("reason")
    parameter_name = "code"

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(error_code=value[:_MAX_VALUE_LENGTH])


class ToolFilter(LinkedFilter):
    title = gettext_lazy("tool")
    parameter_name = "tool"

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(tool=value[:_MAX_VALUE_LENGTH])


class CallerFilter(ValueFilter):
    title = gettext_lazy("caller")
    parameter_name = "caller"

    def lookups(self, request: HttpRequest, model_admin: Any) -> FilterChoices:
        tokens = McpToken.objects.order_by("-created_at").values_list("pk", "name")[:_MAX_CHOICES]
        static = sorted(caller_names(_STATIC).items())
        return [*static, *((principal_of(id_), name) for id_, name in tokens)]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(principal=value[:100])


class CallAgentFilter(ValueFilter):
    title = gettext_lazy("agent")
    parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> FilterChoices:
        users = User.objects.filter(agent_id__isnull=False).order_by("agent_id")
        ids = users.values_list("agent_id", flat=True)[:_MAX_CHOICES]
        return [(id_, agent_name(id_)) for id_ in ids if id_]

    def narrowed(self, rows: QuerySet[McpCall], value: str) -> QuerySet[McpCall]:
        return rows.filter(agent_id=value[:100])


@dataclass(frozen=True, slots=True)
class CallChartColumn:
    """A period of time. `drawn_failed`: the part of its column that failed."""

    begin: datetime
    total: int
    failed: int
    drawn: Upright
    drawn_failed: Upright
    is_named: bool


@dataclass(frozen=True, slots=True)
class CallChart:
    """The chart, and its data as a table: `busy` are the periods with calls."""

    columns: list[CallChartColumn]
    total: int
    failed: int
    peak: int
    busy: list[CallCount]


def draw_chart(found: Sequence[CallCount]) -> CallChart:
    peak = max((stretch.total for stretch in found), default=0)
    # Hours and months have too many columns to label each.
    every = 4 if len(found) > 7 else 1
    return CallChart(
        [
            CallChartColumn(
                begin=stretch.begin,
                total=stretch.total,
                failed=stretch.failed,
                drawn=upright(place, len(found), stretch.total, peak),
                drawn_failed=upright(place, len(found), stretch.failed, peak),
                is_named=(len(found) - 1 - place) % every == 0,
            )
            for place, stretch in enumerate(found)
        ],
        sum(stretch.total for stretch in found),
        sum(stretch.failed for stretch in found),
        peak,
        [stretch for stretch in found if stretch.total][::-1],
    )


class CallChangeList(ViewChangeList):
    """A list whose rows have the names of their callers, loaded with one query, and a chart above it."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = call_log.with_caller_names(self.result_list)
        span = call_log.parse_span(self.params.get("span")) or "day"
        self.span = span
        self.chart = draw_chart(call_log.count_by_time(self.queryset, span))
        self.chart_height = HEIGHT
        self.refused = [
            (row, f"?{urlencode({'span': span, 'tool': row.tool, 'code': row.code})}")
            for row in call_log.most_refused(self.queryset, span)
        ]


@admin.register(McpCall)
class McpCallAdmin(ListAdmin[McpCall]):
    view_permission = "settings.manage"
    list_display = ("when", "called", "outcome", "caller", "sizes")
    # A call has no page: everything stored about it is in the list.
    list_display_links = None
    list_filter = (
        SpanFilter,
        CallOutcomeFilter,
        CodeFilter,
        CallerFilter,
        ToolFilter,
        CallAgentFilter,
    )
    list_select_related = ("user",)
    search_fields = ("tool",)
    search_help_text = gettext_lazy("Search tools, reasons, agents and tokens")
    ordering = ("-created_at", "-pk")
    sortable_by = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return CallChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[McpCall], search_term: str
    ) -> tuple[QuerySet[McpCall], bool]:
        text = search_term.strip()[:100]
        if not text:
            return queryset, False
        # Tools are matched in the registry, because a substring search of the log would be slow.
        tools = [tool.name for tool in all_tools() if text.lower() in tool.name]
        tokens = McpToken.objects.filter(name__icontains=text).values_list("pk", flat=True)[:100]
        callers = [call_log.principal_of(id_) for id_ in tokens]
        matches = (
            Q(tool__in=[*tools, text])
            | Q(error_code=text)
            | Q(agent_id=text)
            | Q(principal__in=[*callers, text])
        )
        return queryset.filter(matches), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("MCP calls"), **(extra_context or {})})

    @admin.display(description=gettext_lazy("When"))
    def when(self, call: McpCall) -> Any:
        return call.created_at

    @admin.display(description=gettext_lazy("Tool"))
    def called(self, call: McpCall) -> SafeString:
        query = urlencode({"tool": call.tool})
        return format_html('<a href="?{}">{}</a>', query, call.tool)

    @admin.display(description=gettext_lazy("Caller"))
    def caller(self, call: McpCall) -> SafeString:
        """Return the credential, with the account and the agent of the call."""
        name: SafeString | str = call.caller_name
        token_id = call_log.token_id_of(call.principal)
        if token_id is not None and name != call.principal:  # the token still exists
            url = reverse("admin:mcp_bridge_mcptoken_change", args=[token_id])
            name = format_html('<a href="{}">{}</a>', url, name)
        whose = " · ".join(filter(None, [str(call.user) if call.user else "", call.agent_id]))
        return format_html('{} <span class="quiet">{}</span>', name, whose)

    @admin.display(description=gettext_lazy("Result"))
    def outcome(self, call: McpCall) -> SafeString:
        """Return the outcome of the call and its duration."""
        look, text = ("succeeded", "ok") if call.ok else ("failed", call.error_code or "failed")
        return format_html(
            '<span class="badge badge-{}">{}</span> <span class="quiet">{} ms</span>',
            look,
            text,
            f"{call.ms:,}",
        )

    @admin.display(description=gettext_lazy("Request / response"))
    def sizes(self, call: McpCall) -> str:
        return f"{filesizeformat(call.request_bytes)} / {filesizeformat(call.response_bytes)}"

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if url.name == "mcp_bridge_mcpcall_changelist"]
