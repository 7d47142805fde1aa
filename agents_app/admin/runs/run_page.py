"""The page of one run: progress, steps, messages, proposals and their outcomes, other tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET
from pydantic import ValidationError

from agents_app.admin.field_values import ShownFieldValue, field_view
from agents_app.admin.labels import (
    agent_name,
    duration,
    format_money,
    format_tokens,
    is_demo,
    model_label,
)
from agents_app.admin.prompt_versions import run_prompt_context
from agents_app.admin.run_dialog.form import for_dialog
from agents_app.admin.run_dialog.retry import proposal_effects
from agents_app.admin.runs.compare import others_context
from agents_app.admin.runs.run_history import story_context
from agents_app.admin.runs.run_outcome import resulting_posts
from agents_app.budgets.reservations import budget_warnings
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus, RunStep
from agents_app.models.run import DECLINED, DECLINED_LABEL
from agents_app.runs.field_target import find_field
from agents_app.runs.labels import (
    activity_label,
    format_duration,
    run_progress,
    step_kind,
    step_label,
    step_lines,
)
from agents_app.runs.permissions import START_PERMISSIONS
from agents_app.runs.queries import ProposalOutcome, find_run, proposal_outcomes
from agents_app.runs.retry import run_candidates
from agents_app.runs.suggestion import Suggestion, edit_for
from content.comparison.references import references_of
from content.document.changes import diff, same
from content.document.labels import label_of, module_names
from content.layers import Layers, open_layers
from content.models import Layer, Post
from content.presenters.cards import cards_between
from content.store.scopes import visible_to
from forms.masking import labels_of_kinds
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError, RuleViolation
from proofroom.core.i18n import in_words
from proofroom_apps.editorial.posts.post_pages import page, post_page, post_url, review_url
from proofroom_apps.editorial.posts.rejections import rejections_of_run

_TEMPLATE: Final = "admin/agents/run.html"
_DIALOG: Final = "admin/agents/dialog/run.html"


@service_errors_as_http
def show(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show a run. The page polls for progress until the run is finished."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    name = agent_name(run.agent_id)
    used = run.input_tokens + run.output_tokens
    steps = list(run.steps.all())
    figures = {
        "steps": step_lines(steps),
        "waterfall": waterfall(run, steps) if run.is_finished else None,
        "doing": activity_label(run),
        "model": model_label(run),
        "fallback_from": " ".join((run.fallback_from or {}).values()),
        "masked": ", ".join(str(label) for label in labels_of_kinds(run.masked or ())),
        "took": duration(run),
        "is_demo": is_demo(run),
        "used": format_tokens(used) if used else "",
        "price": format_money(run.cost),
        "cached": format_tokens(run.cached_tokens) if run.cached_tokens else "",
        "saved": format_money(run.saved) if run.saved else "",
        "status_url": _url("run_status", run),
        "run_url": _url("agentrun_change", run),
        "socket_url": f"/ws/runs/{run.pk}/",
    }
    has_right = may(request, START_PERMISSIONS.get(run.scope, "agents.edit"))
    is_gone = run.post is not None and run.post.deleted_at is not None
    can_be_repeated = run.is_finished and not run.is_dry and not is_gone
    has_brought = run.is_finished and (bool(run.staged) or run.posts.exists())
    results = resulting_posts(request, run)
    actions = {
        "may_cancel": not run.is_finished and has_right,
        "may_retry": has_right and can_be_repeated,
        "may_revert": may(request, "posts.revisions.manage") and has_brought,
        "cancel_url": _url("run_cancel", run),
        "retry_url": _url("run_retry", run),
        "once": uuid4(),
        "revert_url": _url("run_revert", run),
    }
    # While the run goes on, a script updates the page but not its heading, so the status is left
    # out there.
    title = name
    if run.is_finished:
        title_values = {"agent": name, "status": run.get_outcome_display().lower()}
        title = _("%(agent)s: %(status)s") % title_values
    context: dict[str, Any] = {
        "run": run,
        "agent": name,
        **figures,
        **actions,
        **story_context(request, run),
        **hint_context(request, run),
        **others_context(run, actor_of(request)),
        **run_prompt_context(request, run),
        "examples": shown_examples(request, run),
        "results": results,
        "is_gone": is_gone,
        # On a post, the template says so beside the list of proposals.
        "has_no_result": run.status == RunStatus.SUCCEEDED
        and run.post_id is None
        and not (results or run.declined or run.summary),
        "budget_warnings": budget_warnings(run.agent_id),
    }
    if run.post is None or run.post.deleted_at is not None:
        response = page(request, _TEMPLATE, context, title=title)
        return for_dialog(request, response, _DIALOG)
    layers = open_layers(run.post)
    context |= proposed_context(run, run.post, layers)
    context |= candidates_context(request, run, layers)
    context |= dry_run_context(request, run, layers)
    response = post_page(request, _TEMPLATE, run.post, layers, context, title=title, tab="runs")
    return for_dialog(request, response, _DIALOG)


@require_GET
@service_errors_as_http
def status(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Return the progress of a run as JSON. Kept small, because pages request it every second."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    answer = JsonResponse(run_progress(run, run.steps.all()))
    answer["Cache-Control"] = "no-store"
    return answer


def _url(name: str, run: AgentRun) -> str:
    return reverse(f"admin:agents_app_{name}", args=[run.pk])


_WORDS: Final[Mapping[ProposalOutcome, tuple[Promise, str]]] = {
    ProposalOutcome.WAITING: (gettext_lazy("in AI Review"), "ai-review"),
    ProposalOutcome.SUBMITTED: (gettext_lazy("in Review"), "review"),
    ProposalOutcome.ACCEPTED: (gettext_lazy("accepted"), "succeeded"),
    ProposalOutcome.EDITED: (gettext_lazy("accepted with edits"), "succeeded"),
    ProposalOutcome.REJECTED: (gettext_lazy("rejected"), "gone"),
    ProposalOutcome.TAKEN_BACK: (gettext_lazy("undone"), "archived"),
    ProposalOutcome.GONE: (gettext_lazy("overwritten"), "archived"),
}


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """One proposed change of a run and its outcome."""

    label: str
    word: str
    look: str
    is_waiting: bool


def proposed_context(run: AgentRun, post: Post, layers: Layers) -> dict[str, Any]:
    """Return the proposed changes of a run with their outcomes."""
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    fates = proposal_outcomes(run, layers)
    staged = [
        ProposedChange(
            label_of(path, document, names),
            str(_WORDS[fate][0]),
            _WORDS[fate][1],
            fate == ProposalOutcome.WAITING,
        )
        for path, fate in fates.items()
    ]
    return {
        "staged": staged,
        "review_url": f"{review_url(post, Layer.AI_REVIEW)}&run={run.pk}",
        "waiting": len(layers.ai_review.changes),
        "waiting_of_run": sum(one.is_waiting for one in staged),
        "submitted_of_run": sum(fate == ProposalOutcome.SUBMITTED for fate in fates.values()),
        "submitted_url": review_url(post, Layer.REVIEW),
        "rejections": rejections_of_run(post, layers, str(run.pk), run.staged, run.created_at),
    }


def hint_context(request: HttpRequest, run: AgentRun) -> dict[str, str]:
    """Return advice for a run that failed or timed out."""
    if run.status not in (RunStatus.FAILED, RunStatus.TIMED_OUT):
        return {}
    error = run.error.lower()
    if run.status == RunStatus.TIMED_OUT:
        hint = _(
            "No changes were proposed. Try again. If it times out again, ask for less at once."
        )
    elif error.startswith("the budget"):
        hint = _("No changes were proposed. Raise the budget, or wait until it resets.")
    elif error.startswith("its worker stopped"):
        hint = _("The worker stopped before the run finished. Try again.")
    elif "refused after" in error:
        hint = _("No changes were proposed. Try again with a note that says what you expect.")
    else:
        hint = _("No changes were proposed. Try again. If it keeps failing, check the AI provider.")
    is_about_settings = may(request, "agents.edit") and run.status == RunStatus.FAILED
    url = reverse("admin:agents_app_aisettings_changelist") if is_about_settings else ""
    return {"hint": hint, "hint_url": url}


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One try. `shown` is None without an answer; `is_here` marks the page's own run. `is_same`: the
    answer equals the value without the proposal.
    """

    number: int
    run_id: str
    note: str
    status: str
    status_label: str
    declined: str
    at: datetime
    shown: ShownFieldValue | None
    is_here: bool
    is_staged: bool
    is_same: bool
    url: str
    use_url: str


def candidates_context(request: HttpRequest, run: AgentRun, layers: Layers) -> dict[str, Any]:
    """Return the answers of all tries at a field; empty if the run was not about a field."""
    if run.scope != Scope.FIELD:
        return {}
    proposed, below = layers.ai_review.document, layers.ai_review.below
    try:
        target = find_field(proposed, run.field_key, run.post_module_id or None)
    except RuleViolation as error:
        return {"field_gone": error.message}
    tries = run_candidates(run)
    # A module that is only proposed does not exist below AI Review.
    has_before = target.module_id is None or target.module(below)
    before = target.value(below) if has_before else None
    view = field_view(target, proposed, [before, *(one.value for one in tries)], actor_of(request))
    waiting = target.value(proposed)
    is_proposed = not same(waiting, before)
    answers = [
        CandidateRow(
            number=number,
            run_id=str(one.run_id),
            note=one.note,
            status=DECLINED if one.declined else one.status,
            status_label=in_words(
                str(DECLINED_LABEL if one.declined else RunStatus(one.status).label)
            ),
            declined=one.declined,
            at=one.created_at,
            shown=view.change(before, one.value) if one.is_one else None,
            is_here=one.run_id == run.pk,
            is_staged=is_proposed and same(waiting, one.value),
            is_same=same(before, one.value),
            url=reverse("admin:agents_app_agentrun_change", args=[one.run_id]),
            use_url=reverse("admin:agents_app_run_use", args=[one.run_id]),
        )
        for number, one in enumerate(tries, 1)
    ]
    return {
        "field": view,
        "answers": answers[::-1],
        "now": view.now(before),
        "proposal_effects": [one for one in proposal_effects(layers, target) if one.is_careful],
    }


def dry_run_context(request: HttpRequest, run: AgentRun, layers: Layers) -> dict[str, Any]:
    """Return the cards of a successful dry run, applied to the current post; empty for other runs."""
    if not run.is_dry or run.value is None:
        return {}
    before = layers.ai_review.document
    try:
        after = edit_for(Suggestion.model_validate(run.value))(before)
    except (CmsError, ValidationError):
        return {"rehearsed_problem": _("The post has changed too much since then.")}
    changes = diff(before, after)
    groups = cards_between(
        before, after, changes, references_of(changes, before, after, who=actor_of(request))
    )
    return {"rehearsed": groups, "rehearsed_count": len(changes)}


@dataclass(frozen=True, slots=True)
class ShownExample:
    """A post with an approved value of the run's field, which the run was shown."""

    title: str
    url: str


def shown_examples(request: HttpRequest, run: AgentRun) -> list[ShownExample]:
    """Return the examples in posts that the user may see. One query, none without examples."""
    found = list(run.examples or ())
    if not found:
        return []
    ids = [example["postId"] for example in found]
    posts = {
        str(post.pk): post
        for post in visible_to(Post.objects.kept(), actor_of(request)).filter(pk__in=ids)
    }
    return [
        ShownExample(post.title, post_url("change", str(post.pk)))
        for example in found
        if (post := posts.get(example["postId"])) is not None
    ]


_NARROWEST: Final = 0.4
"""Minimum width in percent, so that a short step stays visible."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One step. `x` and `width` are percentages of the whole duration."""

    number: int
    name: str
    kind: str
    kind_label: str
    is_ok: bool
    began: str
    took: str
    x: str
    width: str
    summary: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """All steps, and the duration of the whole run."""

    lanes: Sequence[Lane]
    whole: str
    model: str
    tools: str


def waterfall(run: AgentRun, steps: Sequence[RunStep]) -> Waterfall | None:
    """Return the chart of a run, or None without steps."""
    if not steps:
        return None
    spans = [
        # A step is stored at its end, so its start is computed from its duration.
        (step.created_at - timedelta(milliseconds=step.milliseconds), step.created_at)
        for step in steps
    ]
    first = min([begin for begin, _end in spans] + ([run.started_at] if run.started_at else []))
    last = max([end for _begin, end in spans] + ([run.finished_at] if run.finished_at else []))
    # Not zero, because positions are divided by it.
    whole = max((last - first).total_seconds(), 0.001)
    lanes: list[Lane] = []
    for step, (begin, _end) in zip(steps, spans, strict=True):
        after = (begin - first).total_seconds()
        share = max(step.milliseconds / 1000 / whole * 100, _NARROWEST)
        # Clocks and rounding can put a step slightly outside of the run.
        x = min(max(after / whole * 100, 0.0), 100 - _NARROWEST)
        lanes.append(
            Lane(
                number=step.number,
                name=step_label(step),
                kind=step.kind,
                kind_label=step_kind(step),
                is_ok=step.ok,
                began=format_duration(max(int(after * 1000), 0)),
                took=format_duration(step.milliseconds),
                x=f"{x:.2f}%",
                width=f"{min(share, 100 - x):.2f}%",
                summary=step.summary,
            )
        )
    spent: dict[str, str] = {}
    for kind in ("model", "tool"):
        own = [step.milliseconds for step in steps if step.kind == kind]
        spent[kind] = format_duration(sum(own)) if own else ""
    return Waterfall(lanes, format_duration(int(whole * 1000)), spent["model"], spent["tool"])
