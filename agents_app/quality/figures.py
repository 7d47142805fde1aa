"""The figures of each agent and AI client in a period."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from statistics import fmean, median
from typing import Final, TypeVar

from django.db.models import Count, F, Q, Sum
from django.utils.translation import gettext as _

from agents_app.definitions.agents import get_agent
from agents_app.models import AgentRun, RunStatus
from agents_app.quality.decisions import (
    Decision,
    DecisionOutcome,
    Decisions,
    Subject,
    load_decisions,
)
from agents_app.quality.notes import (
    HeededNotes,
    NoteTerm,
    RepeatedNote,
    frequent_notes,
    frequent_terms,
    heeded_notes,
)
from analytics.experiments.confidence import Range, Tally, wilson
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid

PERMISSION: Final = "quality.view"
DEFAULT_WEEKS: Final = 12
MAX_DAYS: Final = 366
MIN_DECIDED: Final = 10
"""Number of decisions from which an acceptance rate is judged."""
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class QualityPeriod:
    """Days in UTC, both included."""

    first: date
    last: date


def read_period(first: date | None, last: date | None) -> QualityPeriod:
    """Return the period; without days the last twelve weeks. Raises `RuleViolation` on `from`."""
    last = last or datetime.now(UTC).date()
    try:
        _end_of(last)
        if first is None:
            # Whole weeks, so that the first column of the chart is not shorter than the others.
            monday = last - timedelta(days=last.weekday())
            first = monday - timedelta(weeks=DEFAULT_WEEKS - 1)
    except OverflowError:
        raise invalid("from", _("Enter a valid date.")) from None
    if not 0 <= (last - first).days < MAX_DAYS:
        text = _("from and to must span 1 to %(most)s days, and from must come first.")
        raise invalid("from", text % {"most": MAX_DAYS})
    return QualityPeriod(first, last)


def _end_of(day: date) -> datetime:
    """Return the end of a day (UTC). Raises `OverflowError` for the last day that there is."""
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Tallied:
    """Decided changes by outcome. `distance`: the mean of accepted ones, 0 for those accepted as proposed."""

    accepted: int = 0
    edited: int = 0
    rejected: int = 0
    distance: float | None = None
    refused_facts: int = 0

    @property
    def decided(self) -> int:
        return self.accepted + self.edited + self.rejected

    @property
    def went_live(self) -> int:
        return self.accepted + self.edited

    @property
    def acceptance(self) -> float | None:
        return self.went_live / self.decided if self.decided else None

    @property
    def interval(self) -> Range | None:
        """The 95 % interval of the acceptance; None if there are too few to tell."""
        if self.decided < MIN_DECIDED:
            return None
        return wilson(Tally(self.decided, self.went_live))


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The runs of an agent. `asked_again`: runs that a person repeated. `seconds`: of all that finished."""

    runs: int = 0
    failed: int = 0
    declined: int = 0
    asked_again: int = 0
    cost: Decimal | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class QualityFigures:
    """The figures of one agent or AI client.

    `waited`: the median minutes from a proposal to its acceptance. `champion` and `challenger`: the parts
    of both, if the challenger proposed anything.
    """

    subject: Subject
    total: Tallied
    fields: Mapping[str, Tallied]
    weeks: Mapping[date, Tallied]
    runs: RunFigures
    waited: float | None
    notes: Sequence[RepeatedNote]
    terms: Sequence[NoteTerm]
    heeded: HeededNotes
    champion: Tallied | None = None
    challenger: Tallied | None = None

    @property
    def cost_per_accepted(self) -> Decimal | None:
        if self.runs.cost is None or not self.total.went_live:
            return None
        return self.runs.cost / self.total.went_live

    @property
    def minutes_per_accepted(self) -> float | None:
        """Minutes that the agent worked for each accepted change; None without runs."""
        if not self.runs.runs or not self.total.went_live:
            return None
        return self.runs.seconds / 60 / self.total.went_live


@dataclass(frozen=True, slots=True)
class Quality:
    """The figures of a period, of most decisions first, and the decisions that they come from."""

    period: QualityPeriod
    rows: Sequence[QualityFigures]
    decisions: Sequence[Decision]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class QualityFilter:
    """Only one agent or AI client, or one field; empty for all."""

    agent: str = ""
    client: str = ""
    field: str = ""
    week: date | None = None
    outcome: str = ""

    def matches(self, row: Decision) -> bool:
        return (
            (not self.agent or row.subject == Subject("agent", self.agent))
            and (not self.client or row.subject == Subject("client", self.client))
            and (not self.field or row.field == self.field)
            and (self.week is None or row.week == self.week)
            and (not self.outcome or row.outcome == self.outcome)
        )


ALL: Final = QualityFilter()


def measure_quality(*, period: QualityPeriod, actor: Actor, only: QualityFilter = ALL) -> Quality:
    """Return the figures of each agent and AI client. At most six queries. Raises `NotAllowed`."""
    actor.require(PERMISSION)
    loaded = load_decisions(period.first, period.last)
    # Notes are judged over all decisions at a place, before any filter.
    heeded = heeded_notes(loaded.rows)
    decisions = [row for row in loaded.rows if only.matches(row)]
    runs = _runs(period)
    by_subject = _grouped(decisions, lambda row: row.subject)
    subjects = set(by_subject)
    if only == ALL:
        # Agents without a decision still cost something.
        subjects |= {Subject("agent", agent_id) for agent_id in runs if get_agent(agent_id)}
    elif only.agent and only.agent in runs:
        subjects.add(Subject("agent", only.agent))
    rows = [
        _figures(
            subject,
            by_subject.get(subject, []),
            runs.get(subject.id, RunFigures()) if subject.kind == "agent" else RunFigures(),
            heeded.get(subject, HeededNotes()),
        )
        for subject in subjects
    ]
    rows.sort(key=lambda row: (-row.total.decided, -row.runs.runs, row.subject))
    return Quality(period, rows, decisions, loaded.is_complete)


def list_decisions(*, period: QualityPeriod, actor: Actor, only: QualityFilter) -> Decisions:
    """Return the decisions behind the figures, newest first. At most five queries. Raises `NotAllowed`."""
    actor.require(PERMISSION)
    loaded = load_decisions(period.first, period.last)
    rows = [row for row in reversed(loaded.rows) if only.matches(row)]
    return Decisions(rows, loaded.is_complete)


def _figures(
    subject: Subject, rows: Sequence[Decision], runs: RunFigures, heeded: HeededNotes
) -> QualityFigures:
    waited = [row.minutes for row in rows if row.minutes is not None]
    challenger = [row for row in rows if row.is_challenger]
    return QualityFigures(
        subject=subject,
        total=tally(rows),
        fields={
            name: tally(found)
            for name, found in sorted(_grouped(rows, lambda row: row.field).items())
        },
        weeks={
            week: tally(found)
            for week, found in sorted(_grouped(rows, lambda row: row.week).items())
        },
        runs=runs,
        waited=median(waited) if waited else None,
        notes=frequent_notes(rows),
        terms=frequent_terms(rows),
        heeded=heeded,
        champion=tally([row for row in rows if not row.is_challenger]) if challenger else None,
        challenger=tally(challenger) if challenger else None,
    )


def tally(rows: Sequence[Decision]) -> Tallied:
    distances = [row.distance for row in rows if row.is_accepted and row.distance is not None]
    return Tallied(
        accepted=sum(row.outcome == DecisionOutcome.ACCEPTED for row in rows),
        edited=sum(row.outcome == DecisionOutcome.EDITED for row in rows),
        rejected=sum(row.outcome == DecisionOutcome.REJECTED for row in rows),
        distance=fmean(distances) if distances else None,
        refused_facts=sum(row.facts for row in rows),
    )


def _grouped(rows: Iterable[Decision], key: Callable[[Decision], K]) -> dict[K, list[Decision]]:
    found: dict[K, list[Decision]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def _runs(period: QualityPeriod) -> dict[str, RunFigures]:
    begin = datetime.combine(period.first, time(), UTC)
    end = _end_of(period.last)
    rows = (
        AgentRun.objects.filter(created_at__gte=begin, created_at__lt=end, is_dry=False)
        .order_by()
        .values("agent_id")
        .annotate(
            number=Count("pk"),
            failed=Count("pk", filter=Q(status__in=(RunStatus.FAILED, RunStatus.TIMED_OUT))),
            declining=Count("pk", filter=~Q(declined="")),
            again=Count("pk", filter=Q(first_try__isnull=False)),
            spent=Sum("cost"),
            took=Sum(F("finished_at") - F("started_at")),
        )
    )
    return {
        row["agent_id"]: RunFigures(
            runs=row["number"],
            failed=row["failed"],
            declined=row["declining"],
            asked_again=row["again"],
            cost=row["spent"],
            seconds=row["took"].total_seconds() if row["took"] is not None else 0.0,
        )
        for row in rows
    }
