"""The list of runs in the admin, and the URLs of a run's pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agents_app.admin.labels import (
    SCOPE_LABELS,
    agent_name,
    duration,
    format_money,
    is_demo,
    state_badge,
)
from agents_app.admin.run_dialog.start import start
from agents_app.admin.runs.actions import cancel, retry, revert, use
from agents_app.admin.runs.causes_page import show_causes_of_post, show_causes_of_run
from agents_app.admin.runs.compare import compare
from agents_app.admin.runs.run_history import transcript
from agents_app.admin.runs.run_page import show, status
from agents_app.definitions.agents import all_agents
from agents_app.models import AgentRun
from agents_app.runs.prompt import prompt_versions
from agents_app.runs.scopes import visible_runs
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.i18n.ages import age_html

_VERSIONS: Final = 10


class RunAgentFilter(SimpleListFilter):
    title = gettext_lazy("agent")
    parameter_name = "agent_id"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        found = [(agent.id, agent.name) for agent in all_agents()]
        selected = request.GET.get(self.parameter_name, "")
        # Runs remain after the file of their agent is deleted.
        if selected and selected not in {id_ for id_, _name in found}:
            found.append((selected[:80], agent_name(selected[:80])))
        return found

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        return queryset.filter(agent_id=self.value()) if self.value() else queryset


class PromptFilter(SimpleListFilter):
    """Empty unless the list is filtered by agent, because versions of different agents are unrelated."""

    title = gettext_lazy("prompt version")
    parameter_name = "prompt"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        agent_id = request.GET.get(RunAgentFilter.parameter_name, "")
        rows = prompt_versions(agent_id).values_list("digest", "created_at")[:_VERSIONS]
        return [
            (digest, f"{digest} ({date_format(localtime(at), 'SHORT_DATE_FORMAT')})")
            for digest, at in rows
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        return queryset.filter(prompt_version=self.value()) if self.value() else queryset


class ScopeFilter(SimpleListFilter):
    title = gettext_lazy("scope")
    parameter_name = "scope"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        return [(scope.value, str(label)) for scope, label in SCOPE_LABELS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        return queryset.filter(scope=self.value()) if self.value() else queryset


class RunOutcomeFilter(SimpleListFilter):
    title = gettext_lazy("result")
    parameter_name = "outcome"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        return [
            ("proposed", str(gettext_lazy("Proposed changes"))),
            ("nothing", str(gettext_lazy("No changes proposed"))),
            ("taken-back", str(gettext_lazy("Undone"))),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        if self.value() == "proposed":
            return queryset.exclude(staged=[])
        if self.value() == "nothing":
            return queryset.filter(status="succeeded", staged=[])
        if self.value() == "taken-back":
            return queryset.filter(reverted_at__isnull=False)
        return queryset


# Lookups of links from other pages; Django refuses lookups that are not in `list_filter`.
_LOOKUPS = frozenset({"post__id__exact", "batch__id__exact"})


@admin.register(AgentRun)
class AgentRunAdmin(ListAdmin[AgentRun]):
    view_permission = "agents.view"
    empty_words = gettext_lazy(
        "A run is one task carried out by an agent. Start one from a post, from "
        "a field, or with the button on any page."
    )
    list_display = ("agent", "about", "state", "begun", "price")
    list_display_links = ("agent",)
    list_filter = (
        "status",
        RunAgentFilter,
        PromptFilter,
        ScopeFilter,
        RunOutcomeFilter,
        "created_at",
    )
    list_select_related = ("post", "batch")
    search_fields = ("agent_id", "by_name", "post__title")
    list_per_page = 50
    show_full_result_count = False

    class Media:
        css: ClassVar = {"all": ["cms/agents/runs.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRun]:
        actor = actor_of(request)
        runs = visible_runs(super().get_queryset(request), actor, actor.user.pk)
        return runs.defer("context", "value")

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup in _LOOKUPS or super().lookup_allowed(lookup, value, request)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context: dict[str, Any] = {"title": _("AI activity")}
        if may(request, "agents.global"):
            context["empty_action"] = {
                "url": reverse("admin:agents_app_ask"),
                "label": _("Run an agent"),
                "is_agent_dialog": True,
            }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    @admin.display(description=gettext_lazy("Agent"), ordering="agent_id")
    def agent(self, run: AgentRun) -> str:
        return agent_name(run.agent_id)

    @admin.display(description=gettext_lazy("Post"), ordering="post__title")
    def about(self, run: AgentRun) -> SafeString | str:
        if run.post is None:
            return "—"
        where = f" › {run.field_key}" if run.field_key else ""
        text = f"{run.post.title}{where}"
        if run.batch is None:
            return text
        url = reverse("admin:agents_app_agentbatch_change", args=[run.batch.pk])
        return format_html('{} <a class="badge" href="{}">{}</a>', text, url, _("batch"))

    @admin.display(description=gettext_lazy("Result"), ordering="status")
    def state(self, run: AgentRun) -> SafeString:
        number = len(run.staged)
        if run.reverted_at is not None:
            outcome = _("undone")
        elif run.is_dry:
            outcome = _("test run")
        elif number:
            outcome = ngettext("%(n)d change", "%(n)d changes", number) % {"n": number}
        else:
            outcome = ""
        return format_html('{} <span class="quiet">{}</span>', state_badge(run), outcome)

    @admin.display(description=gettext_lazy("Started"), ordering="created_at")
    def begun(self, run: AgentRun) -> SafeString:
        return format_html(
            '{} <span class="quiet">{}</span>', age_html(run.created_at), run.by_name
        )

    @admin.display(description=gettext_lazy("Cost"), ordering="cost")
    def price(self, run: AgentRun) -> SafeString:
        cost = _("demo") if is_demo(run) else format_money(run.cost) or "—"
        return format_html('{} <span class="quiet">{}</span>', cost, duration(run))

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("start/<uuid:post_id>/", wrap(start), name="agents_app_run_start"),
            path(
                "causes/<uuid:post_id>/",
                wrap(show_causes_of_post),
                name="agents_app_causes_of_post",
            ),
            path("<uuid:run_id>/change/", wrap(show), name="agents_app_agentrun_change"),
            path(
                "<uuid:run_id>/causes/", wrap(show_causes_of_run), name="agents_app_causes_of_run"
            ),
            path("<uuid:run_id>/status/", wrap(status), name="agents_app_run_status"),
            path("<uuid:run_id>/transcript/", wrap(transcript), name="agents_app_run_transcript"),
            path("<uuid:run_id>/cancel/", wrap(cancel), name="agents_app_run_cancel"),
            path("<uuid:run_id>/retry/", wrap(retry), name="agents_app_run_retry"),
            path("<uuid:run_id>/use/", wrap(use), name="agents_app_run_use"),
            path("<uuid:run_id>/revert/", wrap(revert), name="agents_app_run_revert"),
            path("<uuid:run_id>/compare/", wrap(compare), name="agents_app_run_compare"),
        ]
        listed = [url for url in super().get_urls() if url.name == "agents_app_agentrun_changelist"]
        return own + listed
