"""Two runs of one agent side by side: input, duration, cost and proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agents_app.admin.field_values import ShownFieldValue, field_view
from agents_app.admin.labels import agent_name, duration, format_money, format_tokens, model_label
from agents_app.admin.prompt_versions import changed_prompt
from agents_app.models import AgentRun
from agents_app.runs.field_target import find_field
from agents_app.runs.queries import find_run
from agents_app.runs.scopes import visible_runs
from content.document.differences import Segment, diff_text
from content.document.labels import label_of, module_names
from content.layers import open_layers
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.content_scope import Scoped
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import RuleViolation
from proofroom_apps.editorial.posts.post_pages import page

_MAX_OTHERS: Final = 20


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One property of both runs as text."""

    name: str
    first: str
    second: str

    @property
    def is_same(self) -> bool:
        return self.first == self.second


def comparable_runs(run: AgentRun, actor: Actor) -> QuerySet[AgentRun]:
    """Return the agent's other runs on the same target that the user may see, latest first."""
    same = AgentRun.objects.filter(
        Q(agent_id=run.agent_id, post_id=run.post_id, scope=run.scope),
        field_key=run.field_key,
        post_module_id=run.post_module_id,
    )
    others = visible_runs(same.exclude(pk=run.pk), actor, actor.user.pk)
    return others.order_by("-created_at", "pk")


def others_context(run: AgentRun, actor: Actor) -> dict[str, Any]:
    """Return the runs offered for comparison on a run's page. One query."""
    rows = comparable_runs(run, actor).only(
        "status", "declined", "created_at", "by_name", "note", "prompt_version"
    )[:_MAX_OTHERS]
    url = reverse("admin:agents_app_run_compare", args=[run.pk])
    return {"others": list(rows) if run.is_finished else [], "compare_url": url}


@require_GET
@service_errors_as_http
def compare(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Compare the run with the one named in `?with=`."""
    require(request, "agents.view")
    run = find_run(run_id=run_id, actor=actor_of(request))
    other = find_by_id(comparable_runs(run, actor_of(request)), request.GET.get("with"))
    if other is None:
        raise Http404(_("Run not found."))
    # The older run is always on the left, whichever page the comparison was opened from.
    first, second = sorted((other, run), key=lambda one: one.created_at)
    summary: Sequence[Segment] = ()
    if first.summary or second.summary:
        summary = diff_text(first.summary, second.summary)
    context = {
        "agent": agent_name(run.agent_id),
        "first": first,
        "second": second,
        "rows": compare_rows(first, second),
        "summary": summary,
        **compare_proposals(first, second, actor_of(request)),
        **changed_prompt(request, first, second),
        "back": reverse("admin:agents_app_agentrun_change", args=[run.pk]),
        "first_url": reverse("admin:agents_app_agentrun_change", args=[first.pk]),
        "second_url": reverse("admin:agents_app_agentrun_change", args=[second.pk]),
    }
    return page(request, "admin/agents/compare.html", context, title=_("Compare two runs"))


def compare_rows(first: AgentRun, second: AgentRun) -> list[ComparisonRow]:
    def row(name: str, of: Any) -> ComparisonRow:
        return ComparisonRow(name, of(first) or "—", of(second) or "—")

    return [
        row(_("Status"), lambda run: run.get_outcome_display()),
        row(_("Started by"), lambda run: run.by_name),
        row(_("Model"), model_label),
        row(_("Prompt version"), lambda run: run.prompt_version),
        row(_("Duration"), duration),
        row(_("Usage"), lambda run: format_tokens(run.input_tokens + run.output_tokens)),
        row(_("Cost"), lambda run: format_money(run.cost)),
        row(_("Reason for declining"), lambda run: run.declined),
        row(_("In your own words"), lambda run: run.open_ended_context),
        row(_("Note"), lambda run: run.note),
        row(_("Error"), lambda run: run.error),
    ]


def compare_proposals(first: AgentRun, second: AgentRun, who: Scoped) -> dict[str, Any]:
    """Return the changes proposed by both runs and by only one of them; for a field also the diff of
    the answers.
    """
    if first.post is None or first.post.deleted_at is not None:
        return {}
    layers = open_layers(first.post)
    document = layers.ai_review.document
    names = module_names(document, layers.live)
    own, others = dict.fromkeys(map(str, first.staged)), dict.fromkeys(map(str, second.staged))
    parts = {
        "both": [path for path in own if path in others],
        "only_first": [path for path in own if path not in others],
        "only_second": [path for path in others if path not in own],
    }
    found: dict[str, Any] = {
        name: [label_of(path, document, names) for path in paths] for name, paths in parts.items()
    }
    if first.scope == "field":
        found["answer"] = compare_answers(first, second, who)
    return found


def compare_answers(first: AgentRun, second: AgentRun, who: Scoped) -> ShownFieldValue | None:
    if first.post is None:
        return None
    document = open_layers(first.post).ai_review.document
    try:
        target = find_field(document, first.field_key, first.post_module_id or None)
    except RuleViolation:
        return None
    view = field_view(target, document, [first.value, second.value], who)
    return view.change(first.value, second.value)
