"""Queries of runs: one by its id, its messages, and the outcomes of proposals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.models import AgentRun, RunMessage, RunStatus, RunStep
from agents_app.models.run import UNFINISHED
from agents_app.runs.scopes import visible_runs
from content.layers import Layers, LayerView
from content.models import Layer, Provenance
from content.store.scopes import filter_by_visible_post
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.core.observability.metrics import MetricReading, count_readings
from proofroom.core.validation.input_validation import parse_uuid


def find_run(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """Return a run. Raises `NotFound`, or `NotAllowed` without `agents.view`."""
    actor.require("agents.view")
    run = find_by_id(visible_runs(AgentRun.objects.all(), actor, actor.user.pk), run_id)
    if run is None:
        raise NotFound(_("No run has the ID %(run_id)s.") % {"run_id": str(run_id)[:80]})
    return run


_PROGRESS_COLUMNS: Final = (
    "status",
    "declined",
    "doing",
    "input_tokens",
    "output_tokens",
    "cost",
    "started_at",
    "finished_at",
    "heartbeat_at",
    "attempts",
    "created_at",
)


def load_runs(ids: Collection[UUID]) -> dict[UUID, AgentRun]:
    """Return these runs with only the columns of their progress. One query."""
    rows = AgentRun.objects.filter(pk__in=ids).only(*_PROGRESS_COLUMNS)
    return {run.pk: run for run in rows}


def load_steps(ids: Collection[UUID]) -> dict[UUID, list[RunStep]]:
    """Return the steps of each run, in order. One query."""
    found: dict[UUID, list[RunStep]] = defaultdict(list)
    for step in RunStep.objects.filter(run_id__in=ids).order_by("number"):
        found[step.run_id].append(step)
    return found


def run_messages(run: AgentRun, actor: Actor) -> QuerySet[RunMessage]:
    """Return the messages of a run, in order. They contain whole posts and prompts, so the permission is strict."""
    actor.require_person("read what was said in a run")
    actor.require("agents.edit")
    return RunMessage.objects.filter(run_id=run.pk).order_by("number")


_REJECTED: Final = tuple(f"post.{layer.value}.reject" for layer in Layer)
_RECONSIDERED: Final = tuple(f"post.{layer.value}.reconsider" for layer in Layer)
_MAX_RUN_EVENTS: Final = 200


class ProposalOutcome(StrEnum):
    """The outcome of a proposal. `gone`: overwritten before a decision."""

    WAITING = "waiting"
    SUBMITTED = "submitted"
    ACCEPTED = "accepted"
    EDITED = "edited"
    REJECTED = "rejected"
    TAKEN_BACK = "taken-back"
    GONE = "gone"


def proposal_outcomes(run: AgentRun, layers: Layers) -> Mapping[str, ProposalOutcome]:
    """Return the outcome of each path the run staged in its own post. Two queries."""
    staged = [str(path) for path in run.staged]
    live = Provenance.objects.filter(run_id=str(run.pk), post=run.post).order_by("pk")
    # The paths that went live, and whether a person edited the value before.
    accepted = {path: bool(by) for path, by in live.values_list("path", "edited_by_name")}
    events = Event.objects.filter(
        post_id=run.post_id, name__in=_REJECTED + _RECONSIDERED, created_at__gte=run.created_at
    )
    rejected: set[str] = set()
    # Filtered in Python, because SQLite has no `contains` lookup for JSON.
    latest = list(events.order_by("-id").values_list("name", "payload")[:_MAX_RUN_EVENTS])
    for name, payload in reversed(latest):
        runs, paths = payload.get("runs"), payload.get("paths")
        if isinstance(runs, list) and str(run.pk) in runs and isinstance(paths, list):
            own = {str(path) for path in paths if path in staged}
            rejected = rejected | own if name in _REJECTED else rejected - own
    found: dict[str, ProposalOutcome] = {}
    for path in staged:
        if _is_pending(layers.ai_review, path, run):
            found[path] = ProposalOutcome.WAITING
        elif _is_pending(layers.review, path, run):
            found[path] = ProposalOutcome.SUBMITTED
        elif run.reverted_at is not None:
            found[path] = ProposalOutcome.TAKEN_BACK
        elif path in accepted:
            is_edited = accepted[path]
            found[path] = ProposalOutcome.EDITED if is_edited else ProposalOutcome.ACCEPTED
        else:
            is_rejected = path in rejected
            found[path] = ProposalOutcome.REJECTED if is_rejected else ProposalOutcome.GONE
    return found


def _is_pending(view: LayerView, path: str, run: AgentRun) -> bool:
    mark = view.marks.get(path)
    return mark is not None and mark.run_id == str(run.pk) and path in view.changes.paths


_MAX_RATE_EVENTS: Final = 2000


@dataclass(frozen=True, slots=True)
class AcceptanceRate:
    """The statistics of one agent since a moment. `accepted` and `rejected`: decided changes."""

    runs: int = 0
    failed: int = 0
    cost: Decimal | None = None
    accepted: int = 0
    rejected: int = 0

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected

    @property
    def share(self) -> int | None:
        """Return the accepted share of decided changes in percent; None without decisions."""
        return round(self.accepted * 100 / self.decided) if self.decided else None


def acceptance_rates(since: datetime, actor: Actor) -> Mapping[str, AcceptanceRate]:
    """Return the rates by agent, of runs and posts visible to the actor. Always four queries."""
    counted_runs = AgentRun.objects.filter(created_at__gte=since, is_dry=False)
    rows = (
        visible_runs(counted_runs, actor, actor.user.pk)
        .order_by()
        .values("agent_id")
        .annotate(
            runs=Count("pk"),
            failed=Count("pk", filter=Q(status__in=(RunStatus.FAILED, RunStatus.TIMED_OUT))),
            spent=Sum("cost"),
        )
    )
    # Proposals that went live, including edited ones.
    live = Provenance.objects.filter(created_at__gte=since).exclude(agent_id="").exclude(run_id="")
    live = filter_by_visible_post(live, actor)
    counted = live.order_by().values("agent_id").annotate(number=Count("pk"))
    accepted = Counter({row["agent_id"]: row["number"] for row in counted})
    rejected = _rejected_counts(since, actor)
    found: dict[str, AcceptanceRate] = defaultdict(AcceptanceRate)
    for row in rows:
        found[row["agent_id"]] = AcceptanceRate(row["runs"], row["failed"], row["spent"])
    for agent_id in {*accepted, *rejected}:
        rate = found[agent_id]
        found[agent_id] = AcceptanceRate(
            rate.runs, rate.failed, rate.cost, accepted[agent_id], rejected[agent_id]
        )
    return found


def _rejected_counts(since: datetime, actor: Actor) -> Counter[str]:
    """Return the number of effective rejections by agent, from the latest events."""
    names = _REJECTED + _RECONSIDERED
    events = Event.objects.filter(name__in=names, created_at__gte=since).order_by("-id")
    events = filter_by_visible_post(events, actor, "post_id")
    rows = list(events.values_list("pk", "name", "payload")[:_MAX_RATE_EVENTS])
    run_ids = {str(id_) for _pk, _name, payload in rows for id_ in _texts(payload, "runs")}
    runs = {
        str(pk): (agent_id, set(map(str, staged)))
        for pk, agent_id, staged in AgentRun.objects.filter(pk__in=run_ids).values_list(
            "pk", "agent_id", "staged"
        )
    }
    found: Counter[str] = Counter()
    rejected: dict[object, set[str]] = {
        pk: set(_texts(payload, "paths")) for pk, name, payload in rows if name in _REJECTED
    }
    for pk, name, payload in rows:
        # For a rejection before `since`, only its withdrawal is in these events, so it must not
        # count.
        counted = rejected.get(payload.get("rejection", pk), set())
        sign = 1 if name in _REJECTED else -1
        paths = counted & set(_texts(payload, "paths"))
        for run_id in _texts(payload, "runs"):
            agent_id, staged = runs.get(run_id, ("", set()))
            found[agent_id] += sign * len(paths & staged)
    # Unary plus removes counts of zero and below.
    return +found


def _texts(payload: Mapping[str, object], key: str) -> list[str]:
    value = payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []


def read_run_metrics() -> Iterator[MetricReading]:
    """Yield the number of unfinished runs by status, and the longest waiting time. One query."""
    counts = AgentRun.objects.filter(status__in=UNFINISHED).values_list("status")
    rows = list(counts.annotate(Count("pk"), Min("queued_at")).order_by("status"))
    yield from count_readings(
        "proofroom_runs",
        "Agent runs that wait or are under way.",
        "status",
        [(status, count) for status, count, _queued_at in rows],
    )
    since = [queued_at for status, _count, queued_at in rows if status == RunStatus.QUEUED]
    yield MetricReading(
        "proofroom_oldest_run_waiting_seconds",
        "Age of the first agent run that waits for a worker.",
        (timezone.now() - since[0]).total_seconds() if since else 0.0,
    )


def run_input_texts(run_ids: Collection[str]) -> list[str]:
    """Return the texts that people or triggers gave these runs as input. One query."""
    ids = [id_ for id_ in map(parse_uuid, run_ids) if id_ is not None]
    rows = AgentRun.objects.filter(pk__in=ids).values_list("open_ended_context", "context", "note")
    return [
        text for words, context, note in rows for text in (words, note, *_texts_in(context)) if text
    ]


def _texts_in(value: Json) -> Iterator[str]:
    """Yield the texts of a JSON value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)
