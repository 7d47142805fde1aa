"""The page that rehearses an event or an agent on a post."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agents_app.admin.labels import SCOPE_LABELS, format_money, format_tokens, target_label
from agents_app.admin.run_dialog.start import posts_to_choose
from agents_app.definitions.agents import all_agents
from agents_app.definitions.reaction_type import reaction_label
from agents_app.definitions.schema import EVENT_SCOPES, Scope
from agents_app.rehearsal import CERTAINTY_LABELS, PlannedRun, Rehearsal, rehearse
from agents_app.runs.labels import tool_label
from content.models import Post
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.database.id_filters import find_by_id
from proofroom_apps.editorial.posts.post_pages import page, post_url

_EVENT: Final = "event:"
_AGENT: Final = "agent:"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A planned run in words. `reactions`: type, target and condition of each."""

    run: PlannedRun
    cause: str
    when: str
    cost: str
    reactions: list[tuple[str, str, str]]


@require_GET
@service_errors_as_http
def show_rehearsal(request: HttpRequest) -> HttpResponse:
    """Choose a post, and an event or an agent (`?start=event:…` or `agent:…`); show what would start."""
    require(request, "agents.view")
    actor = actor_of(request)
    start = request.GET.get("start", "")
    post = find_by_id(visible_to(Post.objects.alive(), actor), request.GET.get("post"))
    found = None
    if post is not None and start.startswith(_EVENT):
        found = rehearse(post_id=post.pk, actor=actor, event=start.removeprefix(_EVENT))
    elif post is not None and start.startswith(_AGENT):
        found = rehearse(post_id=post.pk, actor=actor, agent_id=start.removeprefix(_AGENT))
    context = {
        "posts": posts_to_choose(post, actor),
        "chosen_post": post,
        "post_url": post_url("change", post) if post is not None else "",
        "start": start,
        "events": [(f"{_EVENT}{one.value}", SCOPE_LABELS[one]) for one in EVENT_SCOPES],
        "agents": [(f"{_AGENT}{agent.id}", agent.name) for agent in all_agents()],
        "found": found,
        "rows": rehearsal_rows(found) if found is not None else [],
        "total": total_cost(found) if found is not None else "",
        "agents_url": reverse("admin:agents_app_agentswitch_changelist"),
    }
    return page(request, "admin/agents/rehearsal.html", context, title=_("Rehearse"))


def rehearsal_rows(found: Rehearsal) -> list[RunRow]:
    rows: list[RunRow] = []
    for run in found.runs:
        made = run.estimate
        tokens = made.input_tokens + made.output_tokens
        if made.problem:
            cost = made.problem
        elif made.is_demo:
            cost = _("Demo, free of charge")
        else:
            cost = format_money(made.cost) or _("%(tokens)s, price unknown") % {
                "tokens": format_tokens(tokens)
            }
        reactions = [
            (
                reaction_label(one.type),
                target_label(one.type, one.target),
                str(CERTAINTY_LABELS[one.when]),
            )
            for one in run.reactions
        ]
        rows.append(RunRow(run, _cause(run), str(CERTAINTY_LABELS[run.when]), cost, reactions))
    return rows


def _cause(run: PlannedRun) -> str:
    if not run.cause:
        return _("Started by hand or by another system")
    if run.cause in list(Scope):
        return str(SCOPE_LABELS[Scope(run.cause)])
    return _("Reaction: %(tool)s") % {"tool": tool_label(run.cause)}


def total_cost(found: Rehearsal) -> str:
    """Return the expected cost of all runs; empty if the price of one is unknown."""
    costs = [run.estimate.cost for run in found.runs if not run.estimate.problem]
    known = [cost for cost in costs if cost is not None]
    return format_money(sum(known, Decimal(0))) if known and len(known) == len(costs) else ""
