"""The list of runs in the admin, and the addresses of what can be done with one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents_app.admin.run_actions import cancel, retry, revert, use
from agents_app.admin.run_page import show, status
from agents_app.admin.start import start
from agents_app.admin.story import transcript
from agents_app.admin.wording import agent_name, is_demo, money
from agents_app.models import AgentRun
from core.admin.rights import PermittedAdmin

_LOOKUPS = frozenset({"post__id__exact", "batch__id__exact"})


@admin.register(AgentRun)
class AgentRunAdmin(PermittedAdmin[AgentRun]):
    view_permission = "agents.view"
    list_display = ("agent", "about", "state", "group", "begun_by", "created_at", "price")
    list_display_links = ("agent",)
    list_filter = ("status", "scope", "agent_id")
    list_select_related = ("post", "batch")
    search_fields = ("agent_id", "by_name", "post__title")
    list_per_page = 50
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRun]:
        return super().get_queryset(request).defer("context", "value")

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup in _LOOKUPS or super().lookup_allowed(lookup, value, request)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": "Runs", **(extra_context or {})})

    @admin.display(description="Agent", ordering="agent_id")
    def agent(self, run: AgentRun) -> str:
        return agent_name(run.agent_id)

    @admin.display(description="About", ordering="post__title")
    def about(self, run: AgentRun) -> str:
        where = f" › {run.field_key}" if run.field_key else ""
        return f"{run.post.title}{where}" if run.post else "—"

    @admin.display(description="Status", ordering="status")
    def state(self, run: AgentRun) -> SafeString:
        return format_html(
            '<span class="badge badge-{}">{}</span>', run.status, run.get_status_display()
        )

    @admin.display(description="Batch")
    def group(self, run: AgentRun) -> SafeString | str:
        if run.batch is None:
            return "—"
        url = reverse("admin:agents_app_agentbatch_change", args=[run.batch.pk])
        return format_html('<a href="{}">{}</a>', url, "batch")

    @admin.display(description="By", ordering="by_name")
    def begun_by(self, run: AgentRun) -> str:
        return run.by_name

    @admin.display(description="Cost", ordering="cost")
    def price(self, run: AgentRun) -> str:
        return "demo" if is_demo(run) else money(run.cost) or "—"

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("start/<uuid:post_id>/", wrap(start), name="agents_app_run_start"),
            path("<uuid:run_id>/change/", wrap(show), name="agents_app_agentrun_change"),
            path("<uuid:run_id>/status/", wrap(status), name="agents_app_run_status"),
            path("<uuid:run_id>/transcript/", wrap(transcript), name="agents_app_run_transcript"),
            path("<uuid:run_id>/cancel/", wrap(cancel), name="agents_app_run_cancel"),
            path("<uuid:run_id>/retry/", wrap(retry), name="agents_app_run_retry"),
            path("<uuid:run_id>/use/", wrap(use), name="agents_app_run_use"),
            path("<uuid:run_id>/revert/", wrap(revert), name="agents_app_run_revert"),
        ]
        listed = [url for url in super().get_urls() if url.name == "agents_app_agentrun_changelist"]
        return own + listed
