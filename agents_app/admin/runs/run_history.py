"""What surrounds a run: its causes, its consequences, reactions and transcript."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agents_app.admin.labels import actor_label, agent_name, target_label
from agents_app.definitions.reaction_type import reaction_label
from agents_app.models import AgentRun
from agents_app.reactions.outcomes import outcome_of, reactions_of
from agents_app.rehearsal import CERTAINTY_LABELS, Certainty
from agents_app.runs.chain import ChainLink, chain_of
from agents_app.runs.queries import find_run, run_messages
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.i18n import in_words
from proofroom.core.outbox.events import find_kind
from proofroom_apps.editorial.posts.post_pages import page


@dataclass(frozen=True, slots=True)
class Station:
    """One event or run of a chain. `url` is empty if it has no page, or none this user may open."""

    label: str
    at: datetime
    by: str = ""
    status: str = ""
    status_label: str = ""
    url: str = ""
    is_self: bool = False


def story_context(request: HttpRequest, run: AgentRun) -> dict[str, Any]:
    """Return the chain, the reactions and the transcript link of a run."""
    chain = chain_of(run, actor_of(request))
    may_see_calls = may(request, "webhooks.manage")
    reactions = [
        (
            row,
            reaction_label(row.kind),
            target_label(row.kind, row.target),
            str(CERTAINTY_LABELS[Certainty(row.trigger)]),
            outcome_of(row),
            reverse("admin:proofroom_webhooks_delivery_change", args=[row.delivery_id])
            if row.delivery_id is not None and may_see_calls
            else "",
        )
        for row in reactions_of(run)
    ]
    context: dict[str, Any] = {
        "reactions": reactions,
        "causes_url": reverse("admin:agents_app_causes_of_run", args=[run.pk]),
    }
    if chain.causes or chain.caused:
        own = _station(request, ChainLink(run=run), is_self=True)
        before = [_station(request, link) for link in chain.causes]
        context["chain"] = [*before, own, *(_station(request, link) for link in chain.caused)]
    if may(request, "agents.edit"):
        context["said"] = run_messages(run, actor_of(request)).count()
        context["said_url"] = reverse("admin:agents_app_run_transcript", args=[run.pk])
    return context


def _station(request: HttpRequest, link: ChainLink, *, is_self: bool = False) -> Station:
    if link.run is not None:
        return Station(
            agent_name(link.run.agent_id),
            link.run.created_at,
            by=link.run.by_name,
            status=link.run.outcome,
            status_label=link.run.get_outcome_display(),
            url="" if is_self else reverse("admin:agents_app_agentrun_change", args=[link.run.pk]),
            is_self=is_self,
        )
    kind = find_kind(link.event.name) if link.event else None
    if link.event is None or kind is None or not may(request, kind.permission):
        return Station(_("Event"), link.at)
    return Station(in_words(kind.label), link.at, by=actor_label(link.event))


@require_GET
@service_errors_as_http
def transcript(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the transcript of a run."""
    require(request, "agents.edit")
    run = find_run(run_id=run_id, actor=actor_of(request))
    context = {
        "run": run,
        "agent": agent_name(run.agent_id),
        "messages_said": list(run_messages(run, actor_of(request))),
        "back": reverse("admin:agents_app_agentrun_change", args=[run.pk]),
    }
    answer = page(request, "admin/agents/transcript.html", context, title=_("Conversation"))
    # The transcript contains prompts, so no cache may store the page.
    answer["Cache-Control"] = "no-store"
    return answer
