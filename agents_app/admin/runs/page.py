"""The page of one run: how far it is, what it did and said, what it proposed, where it came from."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agents_app.admin.agents.prompts import run_prompt_context
from agents_app.admin.labels import agent_name, duration, is_demo, model_label, money, tokens
from agents_app.admin.run_dialog.form import for_dialog
from agents_app.admin.runs.candidates import candidates_context
from agents_app.admin.runs.causes import story_context
from agents_app.admin.runs.compare import others_context
from agents_app.admin.runs.dry_run import rehearsed_context
from agents_app.admin.runs.outcome import hint_context, proposed_context
from agents_app.admin.runs.waterfall import waterfall
from agents_app.models import AgentRun
from agents_app.progress.reading import lines, progress
from agents_app.progress.words import doing_of
from agents_app.runs.lifecycle import find_run
from agents_app.runs.scope import START_PERMISSIONS
from content.admin.pages import page, post_page
from content.layers import open_layers
from core.admin.rights import actor_of, answers_refusals, may, require

_TEMPLATE: Final = "admin/agents/run.html"
_DIALOG: Final = "admin/agents/dialog/run.html"


@answers_refusals
def show(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run. Asks again by itself until it is finished."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    name = agent_name(run.agent_id)
    used = run.input_tokens + run.output_tokens
    steps = list(run.steps.all())
    figures = {
        "steps": lines(steps),
        "waterfall": waterfall(run, steps) if run.is_finished else None,
        "doing": doing_of(run),
        "model": model_label(run),
        "took": duration(run),
        "is_demo": is_demo(run),
        "used": tokens(used) if used else "",
        "price": money(run.cost),
        "status_url": _url("run_status", run),
        "run_url": _url("agentrun_change", run),
        "socket_url": f"/ws/runs/{run.pk}/",
    }
    has_right = may(request, START_PERMISSIONS.get(run.scope, "agents.edit"))
    is_gone = run.post is not None and run.post.deleted_at is not None
    can_be_repeated = run.is_finished and not run.is_dry and not is_gone
    has_brought = run.is_finished and (bool(run.staged) or run.posts.exists())
    actions = {
        "may_cancel": not run.is_finished and has_right,
        "may_retry": has_right and can_be_repeated,
        "may_revert": may(request, "posts.revisions.manage") and has_brought,
        "cancel_url": _url("run_cancel", run),
        "retry_url": _url("run_retry", run),
        "once": uuid4(),
        "revert_url": _url("run_revert", run),
    }
    # While it goes on the page follows it, and a heading with its status would stay behind.
    title = name
    if run.is_finished:
        said = {"agent": name, "status": str(run.get_status_display()).lower()}
        title = _("%(agent)s: %(status)s") % said
    context: dict[str, Any] = {
        "run": run,
        "agent": name,
        **figures,
        **actions,
        **story_context(request, run),
        **hint_context(request, run),
        **others_context(run),
        **run_prompt_context(request, run),
    }
    if run.post is None or run.post.deleted_at is not None:
        shown = page(request, _TEMPLATE, context, title=title)
        return for_dialog(request, shown, _DIALOG)
    layers = open_layers(run.post)
    context |= proposed_context(run, run.post, layers)
    context |= candidates_context(run, layers)
    context |= rehearsed_context(run, layers)
    shown = post_page(request, _TEMPLATE, run.post, layers, context, title=title, tab="runs")
    return for_dialog(request, shown, _DIALOG)


@require_GET
@answers_refusals
def status(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """How far a run is, for the page that shows it. Small: it is asked for every second."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    answer = JsonResponse(progress(run, run.steps.all()))
    answer["Cache-Control"] = "no-store"
    return answer


def _url(name: str, run: AgentRun) -> str:
    return reverse(f"admin:agents_app_{name}", args=[run.pk])
