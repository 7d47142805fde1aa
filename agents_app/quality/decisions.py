"""Decisions of people on proposals of agents and AI clients: accepted, edited and then accepted, or rejected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from agents_app.models import AgentRun
from content.layers.edited_proposals import accepted_after_edit, accepted_value, proposed_value
from content.models import EditedProposal, Layer, Provenance
from content.post_checks.proposals import text_of_value
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.core.validation.input_validation import parse_uuid

MAX_DECISIONS: Final = 20_000
"""Maximum number of accepted changes, and of rejections, that are read: the latest ones."""
MAX_DISTANCES: Final = 500
"""Maximum number of edited proposals whose distance is computed: the latest ones."""
_MAX_WORDS: Final = 1_000
_REJECTED: Final = tuple(f"post.{layer.value}.reject" for layer in Layer)
_RECONSIDERED: Final = tuple(f"post.{layer.value}.reconsider" for layer in Layer)


ProposerKind = Literal["agent", "client"]
KINDS: Final = get_args(ProposerKind)


class Subject(NamedTuple):
    """The proposer: an agent by its id, or an AI client by its credential."""

    kind: ProposerKind
    id: str


class DecisionOutcome(StrEnum):
    """What people decided. `edited`: accepted after an edit."""

    ACCEPTED = "accepted"
    EDITED = "edited"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decided change.

    `distance`: of the accepted from the proposed text, 0 to 1; None if it is not known. `minutes`: from
    the proposal to its acceptance. `facts`: dates, prices and numbers that were refused with it.
    `is_challenger`: the agent's challenger proposed it.
    """

    subject: Subject
    post_id: UUID
    path: str
    outcome: DecisionOutcome
    at: datetime
    run_id: str = ""
    note: str = ""
    distance: float | None = None
    minutes: float | None = None
    facts: int = 0
    is_challenger: bool = False

    @property
    def field(self) -> str:
        return field_of(self.path)

    @property
    def week(self) -> date:
        """The Monday of its week, in UTC."""
        day = self.at.astimezone(UTC).date()
        return day - timedelta(days=day.weekday())

    @property
    def is_accepted(self) -> bool:
        return self.outcome != DecisionOutcome.REJECTED


def field_of(path: str) -> str:
    """Return the field of a path, without the module's id, so that posts can be compared."""
    kind, _dot, rest = path.partition(".")
    if kind == "post":
        return path
    _id, _dot, inner = rest.partition(".")
    for part in ("props.", "overrides."):
        inner = inner.removeprefix(part)
    return f"module.{inner}" if inner else "module"


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a period, oldest first. `is_complete` is False if there were more than are read."""

    rows: Sequence[Decision]
    is_complete: bool


def load_decisions(first: date, last: date) -> Decisions:
    """Return the decisions from the first to the last day (UTC). At most five queries."""
    begin, end = datetime.combine(first, time(), UTC), datetime.combine(last, time(), UTC)
    end += timedelta(days=1)
    accepted, distances = list(_accepted(begin, end)), _distances(begin, end)
    rejected, events = _rejected(begin, end)
    challengers = set(
        AgentRun.objects.filter(
            is_challenger=True, pk__in={id_ for row in (*accepted, *rejected) if (id_ := _run(row))}
        ).values_list("pk", flat=True)
    )
    rows = [
        replace(
            row,
            distance=_distance_of(row, distances),
            is_challenger=_run(row) in challengers,
        )
        for row in (*accepted, *rejected)
    ]
    return Decisions(
        sorted(rows, key=lambda row: row.at),
        is_complete=len(accepted) < MAX_DECISIONS and events < MAX_DECISIONS,
    )


def _run(row: Decision) -> UUID | None:
    return parse_uuid(row.run_id) if row.run_id else None


def _accepted(begin: datetime, end: datetime) -> Iterator[Decision]:
    rows = (
        Provenance.objects.filter(created_at__gte=begin, created_at__lt=end)
        .exclude(agent_id="", principal="")
        .order_by("-pk")
        .values_list(
            *("agent_id", "principal", "post_id", "path", "run_id", "edited_by_name"),
            *("created_at", "written_at"),
        )
    )
    for agent_id, principal, post_id, path, run_id, edited_by, at, written_at in rows[
        :MAX_DECISIONS
    ]:
        yield Decision(
            subject=_subject(agent_id, principal),
            post_id=post_id,
            path=path,
            outcome=DecisionOutcome.EDITED if edited_by else DecisionOutcome.ACCEPTED,
            at=at,
            run_id=run_id,
            minutes=max((at - written_at).total_seconds(), 0) / 60,
        )


def _subject(agent_id: str, principal: str) -> Subject:
    return Subject("client", principal) if principal else Subject("agent", agent_id)


_Place = tuple[UUID, str]


def _distances(begin: datetime, end: datetime) -> dict[_Place, list[tuple[datetime, float | None]]]:
    """Return the times and distances of edited proposals by post and path, the oldest first."""
    found: dict[_Place, list[tuple[datetime, float | None]]] = defaultdict(list)
    rows = accepted_after_edit(begin).filter(decided_at__lt=end)[:MAX_DISTANCES]
    for row in reversed(list(rows)):
        if row.decided_at is not None:
            found[row.post_id, row.path].append((row.decided_at, edit_distance(row)))
    return found


def edit_distance(row: EditedProposal) -> float | None:
    """Return how much of the words a person changed, 0 to 1; None if a value was too large to store."""
    if row.proposed is None or row.accepted is None:
        return None
    before = text_of_value(proposed_value(row)).split()[:_MAX_WORDS]
    after = text_of_value(accepted_value(row)).split()[:_MAX_WORDS]
    if before == after:
        return 0.0
    return round(1 - SequenceMatcher(None, before, after, autojunk=False).ratio(), 3)


_SAME_MOMENT: Final = timedelta(minutes=1)
"""The provenance and the record of an edit are written in one transaction, so their times are close."""


def _distance_of(
    row: Decision, distances: Mapping[_Place, Sequence[tuple[datetime, float | None]]]
) -> float | None:
    if row.outcome == DecisionOutcome.ACCEPTED:
        return 0.0
    for at, distance in distances.get((row.post_id, row.path), ()):
        if row.is_accepted and abs(at - row.at) < _SAME_MOMENT:
            return distance
    return None


def _rejected(begin: datetime, end: datetime) -> tuple[list[Decision], int]:
    """Return the rejections that were not undone, and the number of events that were read."""
    events = (
        Event.objects.filter(
            name__in=_REJECTED + _RECONSIDERED, created_at__gte=begin, created_at__lt=end
        )
        .exclude(post_id=None)
        .order_by("-id")
        .values_list("pk", "name", "post_id", "payload", "created_at")
    )
    rows = list(events[:MAX_DECISIONS])
    undone: dict[object, set[str]] = defaultdict(set)
    for _pk, name, _post_id, payload, _at in rows:
        if name in _RECONSIDERED:
            undone[payload.get("rejection")].update(_texts(payload, "paths"))
    runs = _staged_paths(
        run_id
        for _pk, name, _post, payload, _at in rows
        if name in _REJECTED
        for run_id in _texts(payload, "runs")
    )
    found: list[Decision] = []
    for pk, name, post_id, payload, at in rows:
        if name in _REJECTED and post_id is not None:
            for path in dict.fromkeys(_texts(payload, "paths")):
                proposal = _proposal_of(payload, path, runs)
                if proposal is not None and path not in undone[pk]:
                    found.append(
                        Decision(
                            subject=proposal.subject,
                            post_id=post_id,
                            path=path,
                            outcome=DecisionOutcome.REJECTED,
                            at=at,
                            run_id=proposal.run_id,
                            note=str(payload.get("note") or "").strip(),
                            facts=proposal.facts,
                        )
                    )
    return found, len(rows)


@dataclass(frozen=True, slots=True)
class _RejectedProposal:
    subject: Subject
    run_id: str
    facts: int = 0


_Runs = Mapping[str, tuple[str, frozenset[str]]]
"""The agent and the staged paths of runs, by id."""


def _staged_paths(run_ids: Iterable[str]) -> _Runs:
    ids = {id_ for text in run_ids if (id_ := parse_uuid(text)) is not None}
    rows = AgentRun.objects.filter(pk__in=ids).values_list("pk", "agent_id", "staged")
    return {str(pk): (agent_id, frozenset(map(str, staged))) for pk, agent_id, staged in rows}


def _proposal_of(payload: Mapping[str, Json], path: str, runs: _Runs) -> _RejectedProposal | None:
    """Return the proposal at a rejected path; None if a person wrote it.

    Events of earlier releases name the runs only, so that AI clients are unknown in them.
    """
    run_id, agent = next(
        (
            (run_id, runs[run_id][0])
            for run_id in _texts(payload, "runs")
            if run_id in runs and path in runs[run_id][1]
        ),
        ("", ""),
    )
    proposals = payload.get("proposals")
    if isinstance(proposals, Mapping):
        one = proposals.get(path)
        if not isinstance(one, Mapping):
            return None
        facts = one.get("facts")
        subject = _subject(str(one.get("agent") or ""), str(one.get("client") or ""))
        count = facts if isinstance(facts, int) else 0
        return _RejectedProposal(subject, run_id, count) if subject.id else None
    return _RejectedProposal(Subject("agent", agent), run_id) if agent else None


def _texts(payload: Mapping[str, Json], key: str) -> list[str]:
    value = payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []
