"""The log of calls: what AI clients asked for, how it ended, and what was refused most."""

from __future__ import annotations

from typing import Any
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

from core.admin.charts import HEIGHT
from core.admin.long_lists import BoundedPaginator
from core.admin.rights import PermittedAdmin
from core.tools import all_tools
from mcp_bridge import call_log
from mcp_bridge.admin.call_charts import chart_of
from mcp_bridge.admin.call_filters import (
    AgentFilter,
    CallerFilter,
    CodeFilter,
    OutcomeFilter,
    SpanFilter,
    ToolFilter,
)
from mcp_bridge.models import McpCall, McpToken


class _Calls(ChangeList):
    """Rows with the names of their callers, found for the whole page at once; and the figures above them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = call_log.with_caller_names(self.result_list)
        span = call_log.span_of(self.params.get("span")) or "day"
        self.span = span
        self.chart = chart_of(call_log.by_time(self.queryset, span))
        self.chart_height = HEIGHT
        self.refused = [
            (row, f"?{urlencode({'span': span, 'tool': row.tool, 'code': row.code})}")
            for row in call_log.most_refused(self.queryset, span)
        ]


@admin.register(McpCall)
class McpCallAdmin(PermittedAdmin[McpCall]):
    view_permission = "settings.manage"
    list_display = ("when", "called", "outcome", "caller", "sizes")
    list_display_links = None
    list_filter = (SpanFilter, OutcomeFilter, CodeFilter, CallerFilter, ToolFilter, AgentFilter)
    list_select_related = ("user",)
    search_fields = ("tool",)
    search_help_text = gettext_lazy(
        "A part of a tool’s name, a reason, an agent, or the name of a token"
    )
    ordering = ("-created_at", "-pk")
    sortable_by = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return _Calls

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[McpCall], search_term: str
    ) -> tuple[QuerySet[McpCall], bool]:
        text = search_term.strip()[:100]
        return (queryset.filter(_named(text)) if text else queryset), False

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
        """The credential, and beneath it the account and the agent that the call was made as."""
        name: SafeString | str = call.caller_name
        token_id = call_log.token_id_of(call.principal)
        if token_id is not None and name != call.principal:  # its token is still there
            url = reverse("admin:mcp_bridge_mcptoken_change", args=[token_id])
            name = format_html('<a href="{}">{}</a>', url, name)
        whose = " · ".join(filter(None, [str(call.user) if call.user else "", call.agent_id]))
        return format_html('{} <span class="quiet">{}</span>', name, whose)

    @admin.display(description=gettext_lazy("Outcome"))
    def outcome(self, call: McpCall) -> SafeString:
        """How it ended, and beneath it how long it took."""
        look, text = ("succeeded", "ok") if call.ok else ("failed", call.error_code or "failed")
        return format_html(
            '<span class="badge badge-{}">{}</span> <span class="quiet">{} ms</span>',
            look,
            text,
            f"{call.ms:,}",
        )

    @admin.display(description=gettext_lazy("In / out"))
    def sizes(self, call: McpCall) -> str:
        return f"{filesizeformat(call.request_bytes)} / {filesizeformat(call.response_bytes)}"

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if url.name == "mcp_bridge_mcpcall_changelist"]


def _named(text: str) -> Q:
    """What is found by words. Tools by a part of their name: the registry knows them, so the log is not searched."""
    tools = [tool.name for tool in all_tools() if text.lower() in tool.name]
    tokens = McpToken.objects.filter(name__icontains=text).values_list("pk", flat=True)[:100]
    callers = [call_log.principal_of(id_) for id_ in tokens]
    return (
        Q(tool__in=[*tools, text])
        | Q(error_code=text)
        | Q(agent_id=text)
        | Q(principal__in=[*callers, text])
    )
