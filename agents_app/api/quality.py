"""`/api/quality`: how people decided on the proposals of each agent and AI client."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, ClassVar, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field, WithJsonSchema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api.budgets import DATE, read_day
from agents_app.evaluation.answers import RangeAnswer
from agents_app.quality.decisions import Decision, DecisionOutcome, ProposerKind
from agents_app.quality.figures import (
    QualityFigures,
    QualityFilter,
    QualityPeriod,
    Tallied,
    list_decisions,
    measure_quality,
    read_period,
)
from agents_app.quality.names import post_titles, subject_names
from analytics.experiments.confidence import Range
from proofroom.core.api.answer import Answer, MetaAnswer, TextOrNull
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

Share = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
FILTERS: Final = [
    query_parameter(
        "from", "The first day, in UTC. Without it, the Monday eleven weeks before `to`.", DATE
    ),
    query_parameter(
        "to", "The last day, in UTC; at most 366 days after the first. Without it, today.", DATE
    ),
    query_parameter("agent", "Only an agent, by its id."),
    query_parameter("client", "Only an AI client, by its credential."),
    query_parameter("field", "Only a field, such as `post.metaTitle` or `module.text`."),
]
_TEXT_MAX: Final = 200


class TallyAnswer(Answer):
    """Decided changes. `acceptance` and `distance` are 0 to 1; the range is null if there are too few to tell.

    `distance`: how much people changed before they accepted, 0 for a change accepted as proposed.
    """

    decided: int
    accepted: int = Field(description="Accepted as proposed.")
    edited: int = Field(description="Accepted after an edit.")
    rejected: int
    acceptance: Share | None
    acceptance_range: RangeAnswer | None
    distance: Share | None
    refused_facts: int = Field(description="Dates, prices and numbers that rejected changes added.")


class FieldTallyAnswer(TallyAnswer):
    """Decided changes of a field."""

    field: str


class WeekTallyAnswer(TallyAnswer):
    """Decided changes of a week, by its Monday (UTC)."""

    week: date


class HeededAnswer(Answer):
    """What became of the places of rejections with a note.

    `heeded`: the next proposal there was accepted; `ignored`: it was rejected again.
    """

    notes: int
    heeded: int
    ignored: int
    share: Share | None
    range: RangeAnswer | None


class RepeatedNoteAnswer(Answer):
    """A note of rejections, and how often people wrote it."""

    note: str
    count: int


class NoteTermAnswer(Answer):
    """A word of notes, and the number of notes that have it."""

    term: str
    notes: int


class QualityAnswer(TallyAnswer):
    """The figures of an agent or AI client. Runs, cost and minutes are null for clients.

    `minutesPerAccepted`: minutes that the agent worked; `minutesWaited`: the median from the proposal to
    its acceptance.
    """

    kind: ProposerKind
    id: str
    name: str
    runs: int | None
    failed: int | None
    declined: int | None
    asked_again: int | None
    cost: float | None
    cost_per_accepted: float | None
    minutes_per_accepted: float | None
    minutes_waited: float | None
    heeded: HeededAnswer
    fields: list[FieldTallyAnswer]
    weeks: list[WeekTallyAnswer]
    notes: list[RepeatedNoteAnswer]
    terms: list[NoteTermAnswer]
    champion: TallyAnswer | None
    challenger: TallyAnswer | None


class QualityListAnswer(Answer):
    """The figures of a period. `complete` is false if it has more decisions than are read."""

    data: list[QualityAnswer]
    meta: MetaAnswer
    first: date = Field(alias="from")
    last: date = Field(alias="to")
    complete: bool


class DecisionAnswer(Answer):
    """A decided change. `minutes`: from the proposal to its acceptance."""

    kind: ProposerKind
    id: str
    name: str
    post_id: UUID
    title: TextOrNull
    path: str
    field: str
    outcome: Literal["accepted", "edited", "rejected"]
    at: datetime
    run_id: TextOrNull
    note: TextOrNull
    distance: Share | None
    minutes: float | None
    refused_facts: int
    challenger: bool


class DecisionListAnswer(Answer):
    """Decided changes, newest first. `complete` is false if there are more than are read."""

    data: list[DecisionAnswer]
    meta: MetaAnswer
    complete: bool


class QualityViewSet(ApiViewSet):
    """The quality of agents and AI clients."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "quality.view",
        "changes": "quality.view",
    }

    @extend_schema(parameters=[*FILTERS, *PAGES], responses=QualityListAnswer)
    def list(self, request: Request) -> Response:
        """Acceptance by field and week, edit distance, refused facts, cost and notes of each proposer."""
        page = page_of(request)
        found = measure_quality(period=_period(request), actor=self.actor, only=_filter(request))
        shown = found.rows[page.slice]
        names = subject_names([row.subject for row in shown], self.actor)
        rows = [_quality_answer(row, names[row.subject]) for row in shown]
        span = {"from": found.period.first, "to": found.period.last}
        return Response(
            {**page.envelope(rows, len(found.rows)), **span, "complete": found.is_complete}
        )

    @extend_schema(
        parameters=[
            *FILTERS,
            query_parameter("week", "Only a week, by its Monday.", DATE),
            query_parameter("outcome", "Only an outcome.", choice_schema(*DecisionOutcome)),
            *PAGES,
        ],
        responses=DecisionListAnswer,
    )
    def changes(self, request: Request) -> Response:
        """The decided changes behind the figures, newest first."""
        page = page_of(request)
        found = list_decisions(period=_period(request), actor=self.actor, only=_filter(request))
        shown = found.rows[page.slice]
        names = subject_names([row.subject for row in shown], self.actor)
        titles = post_titles({row.post_id for row in shown})
        rows = [_decision_answer(row, names[row.subject], titles.get(row.post_id)) for row in shown]
        return Response({**page.envelope(rows, len(found.rows)), "complete": found.is_complete})


def _period(request: Request) -> QualityPeriod:
    return read_period(read_day(request, "from"), read_day(request, "to"))


def _filter(request: Request) -> QualityFilter:
    params = request.query_params
    outcome = params.get("outcome", "")
    if outcome and outcome not in list(DecisionOutcome):
        known = ", ".join(DecisionOutcome)
        raise invalid("outcome", f"{outcome[:60]!r} is no outcome. Available: {known}.")
    return QualityFilter(
        agent=params.get("agent", "")[:_TEXT_MAX],
        client=params.get("client", "")[:_TEXT_MAX],
        field=params.get("field", "")[:_TEXT_MAX],
        week=read_day(request, "week"),
        outcome=outcome,
    )


def _range(found: Range | None) -> RangeAnswer | None:
    return None if found is None else RangeAnswer(low=found.low, high=found.high)


def _tally(found: Tallied) -> dict[str, object]:
    return {
        "decided": found.decided,
        "accepted": found.accepted,
        "edited": found.edited,
        "rejected": found.rejected,
        "acceptance": found.acceptance,
        "acceptance_range": _range(found.interval),
        "distance": found.distance,
        "refused_facts": found.refused_facts,
    }


def _tally_answer(found: Tallied | None) -> TallyAnswer | None:
    return None if found is None else TallyAnswer.model_validate(_tally(found))


def _quality_answer(row: QualityFigures, name: str) -> QualityAnswer:
    runs, is_agent = row.runs, row.subject.kind == "agent"
    return QualityAnswer.model_validate(
        {
            **_tally(row.total),
            "kind": row.subject.kind,
            "id": row.subject.id,
            "name": name,
            "runs": runs.runs if is_agent else None,
            "failed": runs.failed if is_agent else None,
            "declined": runs.declined if is_agent else None,
            "asked_again": runs.asked_again if is_agent else None,
            "cost": None if runs.cost is None else float(runs.cost),
            "cost_per_accepted": None
            if row.cost_per_accepted is None
            else float(row.cost_per_accepted),
            "minutes_per_accepted": row.minutes_per_accepted,
            "minutes_waited": row.waited,
            "heeded": {
                "notes": row.heeded.notes,
                "heeded": row.heeded.heeded,
                "ignored": row.heeded.ignored,
                "share": row.heeded.share,
                "range": _range(row.heeded.interval),
            },
            "fields": [{"field": name, **_tally(one)} for name, one in row.fields.items()],
            "weeks": [{"week": week, **_tally(one)} for week, one in row.weeks.items()],
            "notes": [{"note": one.note, "count": one.count} for one in row.notes],
            "terms": [{"term": one.term, "notes": one.notes} for one in row.terms],
            "champion": _tally_answer(row.champion),
            "challenger": _tally_answer(row.challenger),
        }
    )


def _decision_answer(row: Decision, name: str, title: str | None) -> DecisionAnswer:
    return DecisionAnswer(
        kind=row.subject.kind,
        id=row.subject.id,
        name=name,
        post_id=row.post_id,
        title=title,
        path=row.path,
        field=row.field,
        outcome=row.outcome.value,
        at=row.at,
        run_id=row.run_id or None,
        note=row.note or None,
        distance=row.distance,
        minutes=row.minutes,
        refused_facts=row.facts,
        challenger=row.is_challenger,
    )
