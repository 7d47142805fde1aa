"""Runs in the admin: the list, one run with its steps and progress, start, cancel."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST

from agents_app.admin.wording import agent_name, duration, model_label
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.cancelling import cancel_run
from agents_app.runs.finding import find_run
from agents_app.runs.starting import create_run
from content.admin.pages import find_post, page, post_page, post_url, review_url
from content.admin.rejections import rejections_of_run
from content.layers import open_layers
from content.models import Layer
from content.review.labels import label_of, module_names
from core.admin.rights import (
    PermittedAdmin,
    actor_of,
    answers_refusals,
    refusals_as_messages,
    require,
)
from core.errors import CmsError


@admin.register(AgentRun)
class AgentRunAdmin(PermittedAdmin[AgentRun]):
    view_permission = "agents.view"
    list_display = ("agent", "post", "state", "by", "created_at", "took")
    list_display_links = ("agent",)
    list_filter = ("status", "scope", "agent_id")
    list_select_related = ("post",)
    search_fields = ("agent_id", "by_name")
    list_per_page = 50
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRun]:
        return super().get_queryset(request).defer("context", "value")

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup == "post__id__exact" or super().lookup_allowed(lookup, value, request)

    @admin.display(description="Agent", ordering="agent_id")
    def agent(self, run: AgentRun) -> str:
        return agent_name(run.agent_id)

    @admin.display(description="Status", ordering="status")
    def state(self, run: AgentRun) -> SafeString:
        return format_html(
            '<span class="badge badge-{}">{}</span>', run.status, run.get_status_display()
        )

    @admin.display(description="By", ordering="by_name")
    def by(self, run: AgentRun) -> str:
        return run.by_name

    @admin.display(description="Took")
    def took(self, run: AgentRun) -> str:
        return duration(run) or "—"

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("start/<uuid:post_id>/", wrap(start), name="agents_app_run_start"),
            path("<uuid:run_id>/change/", wrap(show), name="agents_app_agentrun_change"),
            path("<uuid:run_id>/status/", wrap(status), name="agents_app_run_status"),
            path("<uuid:run_id>/cancel/", wrap(cancel), name="agents_app_run_cancel"),
        ]
        listed = [url for url in super().get_urls() if url.name == "agents_app_agentrun_changelist"]
        return own + listed


@require_POST
@answers_refusals
def start(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Begin a run of the agent that was picked in the dropdown."""
    require(request, "agents.dropdown")
    post = find_post(post_id)
    try:
        run = create_run(
            agent_id=request.POST.get("agent", ""),
            scope=Scope.DROPDOWN,
            actor=actor_of(request),
            post_id=post.pk,
            open_ended_context=request.POST.get("words", "").strip() or None,
        )
    except CmsError as error:
        if error.status == 403 and error.code != "agent_not_in_scope":
            raise
        messages.error(request, error.message)
        return HttpResponseRedirect(post_url("change", post))
    return HttpResponseRedirect(_url("agentrun_change", run.pk))


@answers_refusals
def show(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run: status, steps, what it proposed. Asks again by itself until it is finished."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    name = agent_name(run.agent_id)
    context: dict[str, Any] = {"run": run, "agent": name, **_progress(run)}
    title = f"{name}: {run.get_status_display().lower()}"
    if run.post is None or run.post.deleted_at is not None:
        return page(request, "admin/agents/run.html", context, title=title)
    layers = open_layers(run.post)
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    context["staged"] = [label_of(str(path_), document, names) for path_ in run.staged]
    context["review_url"] = review_url(run.post, Layer.AI_REVIEW)
    context["waiting"] = len(layers.ai_review.changes)
    context["rejections"] = rejections_of_run(
        run.post, layers, str(run.pk), run.staged, run.created_at
    )
    return post_page(
        request, "admin/agents/run.html", run.post, layers, context, title=title, tab="runs"
    )


def _progress(run: AgentRun) -> dict[str, Any]:
    return {
        "steps": list(run.steps.all()),
        "model": model_label(run),
        "took": duration(run),
        "is_demo": run.provider == "demo",
        "status_url": _url("run_status", run.pk),
        "cancel_url": _url("run_cancel", run.pk),
        "may_cancel": not run.is_finished,
    }


@require_GET
@answers_refusals
def status(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """How far a run is, for the page that shows it. Small: it is asked for every second."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    steps = [
        {
            "n": step.number,
            "name": step.name,
            "ok": step.ok,
            "ms": step.milliseconds,
            "summary": step.summary,
        }
        for step in run.steps.all()
    ]
    return JsonResponse(
        {
            "status": run.status,
            "label": run.get_status_display(),
            "isFinished": run.is_finished,
            "succeeded": run.status == RunStatus.SUCCEEDED,
            "steps": steps,
        }
    )


@require_POST
@answers_refusals
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stop a run that is not finished."""
    with refusals_as_messages(request):
        cancel_run(run_id=run_id, actor=actor_of(request))
        messages.success(request, "The run is cancelled; it stages nothing any more.")
    return HttpResponseRedirect(_url("agentrun_change", run_id))


def _url(name: str, pk: object) -> str:
    return reverse(f"admin:agents_app_{name}", args=[pk])
