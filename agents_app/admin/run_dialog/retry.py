"""Another try at a proposal: its layer, its agent, and its effect on pending changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from agents_app.admin.labels import agent_name
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.runs.field_target import FieldTarget
from agents_app.runs.retry import EarlierProposal, earlier_proposal, pending_marks
from content.layers import Layers
from content.models import Layer
from content.store.layer_state import Attribution
from proofroom.core.admin.permissions import may
from proofroom.core.database.id_filters import find_by_id


@dataclass(frozen=True, slots=True)
class ProposalEffect:
    """The effect as a sentence. `is_careful`: a person's changes would be replaced."""

    text: str
    is_careful: bool = False


def proposal_effects(layers: Layers, target: FieldTarget) -> list[ProposalEffect]:
    """Return how the new proposal affects the field's pending changes in AI Review and in Review."""
    found = [
        effect_in_ai_review(pending_marks(layers, target, Layer.AI_REVIEW)),
        effect_in_review(pending_marks(layers, target, Layer.REVIEW)),
    ]
    return [one for one in found if one is not None]


def effect_in_ai_review(hands: Sequence[Attribution]) -> ProposalEffect | None:
    if not hands:
        return None
    person = last_person(hands)
    if not person:
        return ProposalEffect(_("The new proposal replaces the one in AI Review."))
    text = _("%(who)s wrote or edited the proposal in AI Review. The new proposal will replace it.")
    return ProposalEffect(text % {"who": person}, is_careful=True)


def effect_in_review(hands: Sequence[Attribution]) -> ProposalEffect | None:
    if not hands:
        return None
    person = last_person(hands)
    if not person:
        return ProposalEffect(
            _(
                "There is already a proposal in Review. The new one goes to AI "
                "Review and replaces it once submitted."
            )
        )
    text = _(
        "%(who)s wrote or edited the change in Review. The new proposal goes to "
        "AI Review. Submitting it creates a conflict that you decide on."
    )
    return ProposalEffect(text % {"who": person}, is_careful=True)


def last_person(hands: Sequence[Attribution]) -> str:
    """Return the last person who edited the change; empty if only agents did."""
    people = [mark for mark in hands if not mark.is_agents]
    if not people:
        return ""
    last = max(people, key=lambda mark: mark.at)
    return last.edited_by or last.user


@dataclass(frozen=True, slots=True)
class RetryOption:
    """A proposal in `layer` to try again. `earlier` is None if it was decided on in the meantime."""

    layer: Layer
    earlier: EarlierProposal | None

    @property
    def made_by(self) -> str:
        return self.earlier.agent_id if self.earlier is not None else ""


def requested_retry(
    request: HttpRequest, layers: Layers, target: FieldTarget
) -> RetryOption | None:
    """Return the proposal to try again that the URL names, or None."""
    wanted = request.GET.get("again", "")
    if wanted not in Layer.values:
        return None
    layer = Layer(wanted)
    return RetryOption(layer, earlier_proposal(layers, target, layer))


def sort_author_first(agents: Sequence[AgentDefinition], made_by: str) -> list[AgentDefinition]:
    """Return the agents, the author of the proposal first; the others keep their order."""
    return sorted(agents, key=lambda agent: agent.id != made_by)


def requested_note(request: HttpRequest) -> str:
    return (request.POST.get("note") or request.POST.get("words", "")).strip()


def retry_context(
    request: HttpRequest,
    retry: RetryOption | None,
    layers: Layers,
    target: FieldTarget,
    agents: Sequence[AgentDefinition],
) -> dict[str, Any]:
    """Return the page's text about another try; empty if there is none."""
    if retry is None:
        return {}
    is_offered = any(agent.id == retry.made_by for agent in agents)
    return {
        "retry": retry,
        "made_by": retry.made_by,
        "maker_words": "" if is_offered else why_other_agent(retry.earlier),
        "maker_run_url": "" if is_offered else whole_run_url(request, retry.earlier),
        "proposal_effects": proposal_effects(layers, target),
        "note": requested_note(request),
        # Every agent takes the note, even one that takes no instructions.
        "taking_words": (),
    }


def why_other_agent(earlier: EarlierProposal | None) -> str:
    """Explain why the agent that made the proposal cannot be asked again."""
    if earlier is None:
        return _(
            "Somebody already decided on this proposal. The agent will be told what was rejected."
        )
    if not earlier.agent_id:
        return _("An AI client made this proposal. Choose an agent to try again.")
    words = _(
        "%(agent)s made this proposal but does not work on single fields. Choose another agent."
    )
    return words % {"agent": agent_name(earlier.agent_id)}


def whole_run_url(request: HttpRequest, earlier: EarlierProposal | None) -> str:
    """Return the URL of the run on the whole post that made the proposal; it can be retried with a note."""
    if earlier is None or not earlier.mark.run_id or not may(request, "agents.view"):
        return ""
    run = find_by_id(AgentRun.objects.exclude(scope=Scope.FIELD), earlier.mark.run_id)
    return reverse("admin:agents_app_agentrun_change", args=[run.pk]) + "#again" if run else ""
