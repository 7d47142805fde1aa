"""The page of one run: how far it is, what it did and said, what it proposed, where it came from."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from agents_app.admin.candidates import candidates_context
from agents_app.admin.story import story_context
from agents_app.admin.wording import agent_name, duration, is_demo, model_label, money, tokens
from agents_app.models import AgentRun, RunStatus, RunStep
from agents_app.runs.finding import find_run
from agents_app.runs.starting import PERMISSIONS
from content.admin.pages import page, post_page, review_url
from content.admin.rejections import rejections_of_run
from content.layers import Layers, open_layers
from content.models import Layer, Post
from content.review.labels import label_of, module_names
from core.admin.rights import actor_of, answers_refusals, may, require

_TEMPLATE: Final = "admin/agents/run.html"


@answers_refusals
def show(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run. Asks again by itself until it is finished."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    name = agent_name(run.agent_id)
    context: dict[str, Any] = {
        "run": run,
        "agent": name,
        **_figures(run),
        **_actions(request, run),
        **story_context(request, run),
    }
    # While it goes on the page follows it, and the heading would stay behind.
    title = f"{name}: {run.get_status_display().lower()}" if run.is_finished else name
    if run.post is None or run.post.deleted_at is not None:
        return page(request, _TEMPLATE, context, title=title)
    layers = open_layers(run.post)
    context |= _proposed(run, run.post, layers)
    context |= candidates_context(run, layers)
    return post_page(request, _TEMPLATE, run.post, layers, context, title=title, tab="runs")


def _proposed(run: AgentRun, post: Post, layers: Layers) -> dict[str, Any]:
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    return {
        "staged": [label_of(str(path), document, names) for path in run.staged],
        "review_url": review_url(post, Layer.AI_REVIEW),
        "waiting": len(layers.ai_review.changes),
        "rejections": rejections_of_run(post, layers, str(run.pk), run.staged, run.created_at),
    }


def _figures(run: AgentRun) -> dict[str, Any]:
    used = run.input_tokens + run.output_tokens
    return {
        "steps": list(run.steps.all()),
        "model": model_label(run),
        "took": duration(run),
        "is_demo": is_demo(run),
        "used": tokens(used) if used else "",
        "price": money(run.cost),
        "status_url": _url("run_status", run),
    }


def _actions(request: HttpRequest, run: AgentRun) -> dict[str, Any]:
    own = PERMISSIONS.get(run.scope, "agents.edit")
    has_right = may(request, own)
    return {
        "may_cancel": not run.is_finished and has_right,
        "may_retry": run.is_finished and has_right and _can_be_repeated(run),
        "may_revert": may(request, "posts.revisions.manage") and _has_brought(run),
        "cancel_url": _url("run_cancel", run),
        "retry_url": _url("run_retry", run),
        "revert_url": _url("run_revert", run),
    }


def _has_brought(run: AgentRun) -> bool:
    return run.is_finished and (bool(run.staged) or run.posts.exists())


def _can_be_repeated(run: AgentRun) -> bool:
    return run.post is None or run.post.deleted_at is None


@require_GET
@answers_refusals
def status(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """How far a run is, for the page that shows it. Small: it is asked for every second."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    return JsonResponse(
        {
            "status": run.status,
            "label": run.get_status_display(),
            "isFinished": run.is_finished,
            "succeeded": run.status == RunStatus.SUCCEEDED,
            "doing": run.doing,
            "tokens": tokens(run.input_tokens + run.output_tokens),
            "steps": [_step(step) for step in run.steps.all()],
        }
    )


def _step(step: RunStep) -> dict[str, Any]:
    return {
        "n": step.number,
        "kind": step.kind,
        "name": step.name,
        "ok": step.ok,
        "ms": step.milliseconds,
        "summary": step.summary,
    }


def _url(name: str, run: AgentRun) -> str:
    return reverse(f"admin:agents_app_{name}", args=[run.pk])
