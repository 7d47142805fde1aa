"""Evaluations as answers of the API and of the command."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final, Literal, get_args
from uuid import UUID

from pydantic import Field, JsonValue, WithJsonSchema

from agents_app.evaluation.report import PartFigures, Report, SideFigures, report_of
from agents_app.evaluation.sentences import verdict_sentence
from agents_app.evaluation.statistics import Verdict
from agents_app.models import Evaluation, EvaluationItem, ItemState
from analytics.experiments.confidence import Range
from proofroom.core.api.answer import Answer, TextOrNull

State = Literal["running", "done", "cancelled", "failed"]
STATES: Final = get_args(State)
QuestionState = Literal["waiting", "running", "done", "skipped", "left"]
QUESTION_STATES: Final = get_args(QuestionState)
AnyJson = Annotated[JsonValue, WithJsonSchema({})]


class RangeAnswer(Answer):
    """A 95 % interval."""

    low: float
    high: float


class VersionAnswer(Answer):
    """A version of an agent. `model` is `provider:model`."""

    model: str
    prompt: str


class SideAnswer(Answer):
    """The figures of one version. `distance`: from the approved texts, 0 to 1. Means are per run."""

    decisions: int
    agreed: int
    agreement: float | None
    agreement_range: RangeAnswer | None
    distance: float | None
    failed_checks: float | None
    cost: float | None
    seconds: float | None
    errors: int
    total_cost: float


class PartAnswer(Answer):
    """Both versions. Differences are intervals of the challenger's value minus the champion's."""

    runs: int
    champion: SideAnswer
    challenger: SideAnswer
    verdict: Verdict
    sentence: str
    agreement_difference: RangeAnswer | None
    distance_difference: RangeAnswer | None
    cost_difference: RangeAnswer | None
    seconds_difference: RangeAnswer | None
    checks_difference: RangeAnswer | None


class EvaluationAnswer(Answer):
    """An evaluation. `heldOut`: the decisions that no prompt ever gets as an example."""

    id: UUID
    agent_id: str
    state: State
    problem: TextOrNull = Field(description="Why it ended before all questions were asked.")
    model: TextOrNull
    prompt: TextOrNull
    brief: TextOrNull
    champion: VersionAnswer
    challenger: VersionAnswer
    budget: float
    spent: float
    prices_known: bool = Field(
        description="False if the price of a model is unknown: the budget cannot stop it."
    )
    total: int
    done: int
    by: TextOrNull
    created_at: datetime
    ended_at: datetime | None


class ComparedPathAnswer(Answer):
    """A decision and the answer to it. `distance`: from the approved text; null if it was rejected."""

    path: str
    decision: Literal["approved", "rejected"]
    outcome: Literal["same", "similar", "different", "missing", "again", "avoided"]
    agrees: bool
    distance: float | None
    held_out: bool


class VersionReplyAnswer(Answer):
    """What one version answered: its values by path, and how they compare with the decisions."""

    values: dict[str, AnyJson]
    paths: list[ComparedPathAnswer]
    summary: str
    declined: str
    failed_checks: list[str]
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: float
    error: str


class QuestionAnswer(Answer):
    """One repeated run, with the decisions of people and both answers."""

    run_id: UUID
    post_id: UUID | None
    state: QuestionState
    why: TextOrNull
    approved: dict[str, AnyJson]
    rejected: list[str]
    champion: VersionReplyAnswer | None
    challenger: VersionReplyAnswer | None


class EvaluationReportAnswer(EvaluationAnswer):
    """An evaluation with its figures and its questions."""

    asked: int
    skipped: int
    left: int
    everything: PartAnswer
    held_out: PartAnswer
    questions: list[QuestionAnswer]


def evaluation_answer(job: Evaluation) -> EvaluationAnswer:
    return EvaluationAnswer.model_validate(_base(job))


def evaluation_report(job: Evaluation, report: Report | None = None) -> EvaluationReportAnswer:
    """Return an evaluation with everything that it found. One query without a report."""
    report = report or report_of(job)
    return EvaluationReportAnswer.model_validate(
        {
            **_base(job),
            "asked": report.asked,
            "skipped": report.skipped,
            "left": report.left,
            "everything": _part(report.everything),
            "held_out": _part(report.held_out),
            "questions": [_question(item) for item in report.items],
        }
    )


def _base(job: Evaluation) -> dict[str, object]:
    return {
        "id": job.pk,
        "agent_id": job.agent_id,
        "state": job.state,
        "problem": job.why or None,
        "model": job.model or None,
        "prompt": job.prompt or None,
        "brief": job.brief or None,
        "champion": job.champion,
        "challenger": job.challenger,
        "budget": float(Decimal(job.budget)),
        "spent": float(Decimal(job.spent)),
        "prices_known": job.has_prices,
        "total": job.total,
        "done": job.done,
        "by": job.by_name or None,
        "created_at": job.created_at,
        "ended_at": job.ended_at,
    }


def _question(item: EvaluationItem) -> dict[str, object]:
    return {
        "run_id": item.run_id,
        "post_id": item.run.post_id,
        "state": ItemState(item.state).value,
        "why": item.why or None,
        "approved": item.decided.get("approved") or {},
        "rejected": item.decided.get("rejected") or [],
        "champion": item.champion or None,
        "challenger": item.challenger or None,
    }


def _part(part: PartFigures) -> dict[str, object]:
    return {
        "runs": part.runs,
        "champion": _side(part.champion),
        "challenger": _side(part.challenger),
        "verdict": part.verdict,
        "sentence": verdict_sentence(part),
        "agreement_difference": _range(part.agreement_difference),
        "distance_difference": _range(part.distance_difference),
        "cost_difference": _range(part.cost_difference),
        "seconds_difference": _range(part.seconds_difference),
        "checks_difference": _range(part.checks_difference),
    }


def _side(side: SideFigures) -> dict[str, object]:
    names = [name for name in SideAnswer.model_fields if name != "agreement_range"]
    return {
        **{name: getattr(side, name) for name in names},
        "agreement_range": _range(side.agreement_range),
    }


def _range(found: Range | None) -> dict[str, float] | None:
    return None if found is None else {"low": found.low, "high": found.high}
