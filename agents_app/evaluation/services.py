"""Evaluations: start, cancel and find."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agents_app.definitions.agents import get_agent, unknown_agent
from agents_app.evaluation.questions import stored_decisions
from agents_app.evaluation.runner import EVALUATIONS
from agents_app.evaluation.sample import choose_sample
from agents_app.evaluation.subjects import description_of, find_subjects
from agents_app.models import Evaluation, EvaluationItem
from agents_app.replay.replay import DecidedRun
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject

PERMISSION: Final = "agents.evaluate"
MAX_SAMPLE: Final = 200
DEFAULT_SAMPLE: Final = 20
MAX_BUDGET: Final = Decimal(1000)


@transaction.atomic
def start_evaluation(
    *,
    agent_id: str,
    actor: Actor,
    budget: Decimal,
    model: str = "",
    prompt: str = "",
    brief: str = "",
    sample: int = DEFAULT_SAMPLE,
) -> Evaluation:
    """Start an evaluation in a worker.

    Raises `NotFound` for an unknown agent, and `RuleViolation` by the name of an argument or if people
    decided on no run yet (`nothing_decided`).
    """
    actor.require_person("evaluate agents")
    actor.require(PERMISSION)
    job = create_evaluation(
        agent_id=agent_id,
        actor=actor,
        budget=budget,
        model=model,
        prompt=prompt,
        brief=brief,
        sample=sample,
    )
    EVALUATIONS.send_later(job.pk)
    return job


@transaction.atomic
def create_evaluation(
    *,
    agent_id: str,
    actor: Actor | None,
    budget: Decimal,
    model: str = "",
    prompt: str = "",
    brief: str = "",
    sample: int = DEFAULT_SAMPLE,
) -> Evaluation:
    """Store an evaluation with its questions, for the caller to execute. No actor: a command asked.

    Raises as `start_evaluation`.
    """
    agent = get_agent(agent_id)
    if agent is None:
        raise unknown_agent(agent_id)
    if not (model or prompt or brief):
        raise invalid("model", _("Name another model, prompt version or brief to compare with."))
    if not 0 < sample <= MAX_SAMPLE:
        text = _("sample must be from 1 to %(most)s.") % {"most": MAX_SAMPLE}
        raise invalid("sample", text)
    if not (budget.is_finite() and 0 < budget <= MAX_BUDGET):
        text = _("budget must be more than 0 and at most %(most)s US dollars.")
        raise invalid("budget", text % {"most": MAX_BUDGET})
    subjects = find_subjects(agent, model=model, prompt=prompt, brief=brief)
    decided = choose_sample(agent.id, sample)
    if not decided:
        raise RuleViolation(
            _("People decided on no run of this agent yet, so there is nothing to compare with."),
            code="nothing_decided",
        )
    job = Evaluation.objects.create(
        agent_id=agent.id,
        model=model,
        prompt=prompt,
        brief=brief,
        champion=description_of(subjects.champion),
        challenger=description_of(subjects.challenger),
        budget=budget,
        has_prices=subjects.has_prices,
        total=len(decided),
        by_id=actor.user.pk if actor is not None else None,
        by_name=actor.user.username if actor is not None else "",
        language=get_language() or "",
    )
    _add_items(job, decided)
    payload: JsonObject = {
        "id": str(job.pk),
        "agentId": job.agent_id,
        "model": model,
        "prompt": prompt,
        "budget": float(budget),
    }
    by = actor or Actor(user=SYSTEM, via="system")
    outbox.record("agent.evaluation.started", actor=by, payload=payload)
    return job


def cancel_evaluation(*, evaluation_id: UUID | str, actor: Actor) -> Evaluation:
    """Cancel an evaluation after the question that is being asked. Raises `Conflict` (`evaluation_finished`)."""
    actor.require_person("cancel an evaluation")
    job = find_evaluation(evaluation_id=evaluation_id, actor=actor)
    return EVALUATIONS.cancel(job.pk, actor)


def list_evaluations(actor: Actor) -> QuerySet[Evaluation]:
    """Return the evaluations, latest first. Raises `NotAllowed`."""
    actor.require(PERMISSION)
    return Evaluation.objects.order_by("-created_at", "pk")


def find_evaluation(*, evaluation_id: UUID | str, actor: Actor) -> Evaluation:
    """Return an evaluation. Raises `NotFound`, or `NotAllowed`."""
    found = find_by_id(list_evaluations(actor), evaluation_id)
    if found is None:
        raise NotFound(_("No evaluation has the ID %(id)s.") % {"id": str(evaluation_id)[:80]})
    return found


def _add_items(job: Evaluation, decided: Sequence[DecidedRun]) -> None:
    EvaluationItem.objects.bulk_create(
        EvaluationItem(
            evaluation=job, position=position, run=one.run, decided=stored_decisions(one)
        )
        for position, one in enumerate(decided)
    )
