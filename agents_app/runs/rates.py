"""How agents do: how often they run, what that costs, and how much of what they propose people accept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db.models import Count, Q, Sum

from agents_app.models import AgentRun, RunStatus
from content.models import Layer, Provenance
from core.models import Event

_REJECTED: Final = tuple(f"post.{layer.value}.reject" for layer in Layer)
_RECONSIDERED: Final = tuple(f"post.{layer.value}.reconsider" for layer in Layer)
_MOST_EVENTS: Final = 2000


@dataclass(frozen=True, slots=True)
class Rate:
    """Of one agent since a moment. `accepted` and `rejected` are changes that people decided on."""

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
        """Accepted of what was decided, in percent; None where nothing was."""
        return round(self.accepted * 100 / self.decided) if self.decided else None


def rates_since(since: datetime) -> Mapping[str, Rate]:
    """By agent. Four queries, however many there are."""
    rows = (
        AgentRun.objects.filter(created_at__gte=since, is_dry=False)
        .order_by()
        .values("agent_id")
        .annotate(
            runs=Count("pk"),
            failed=Count("pk", filter=Q(status__in=(RunStatus.FAILED, RunStatus.TIMED_OUT))),
            spent=Sum("cost"),
        )
    )
    accepted, rejected = _accepted(since), _rejected(since)
    found: dict[str, Rate] = defaultdict(Rate)
    for row in rows:
        found[row["agent_id"]] = Rate(row["runs"], row["failed"], row["spent"])
    for agent_id in {*accepted, *rejected}:
        rate = found[agent_id]
        found[agent_id] = Rate(
            rate.runs, rate.failed, rate.cost, accepted[agent_id], rejected[agent_id]
        )
    return found


def _accepted(since: datetime) -> Counter[str]:
    """What went live of agents' words, be it with edits."""
    rows = Provenance.objects.filter(created_at__gte=since).exclude(agent_id="").exclude(run_id="")
    counted = rows.order_by().values("agent_id").annotate(number=Count("pk"))
    return Counter({row["agent_id"]: row["number"] for row in counted})


def _rejected(since: datetime) -> Counter[str]:
    """The latest rejections that stand, path by path, for the agents whose runs had staged them."""
    names = _REJECTED + _RECONSIDERED
    events = Event.objects.filter(name__in=names, created_at__gte=since).order_by("-id")
    told = list(events.values_list("pk", "name", "payload")[:_MOST_EVENTS])
    named = {str(id_) for _pk, _name, payload in told for id_ in _texts(payload, "runs")}
    runs = {
        str(pk): (agent_id, set(map(str, staged)))
        for pk, agent_id, staged in AgentRun.objects.filter(pk__in=named).values_list(
            "pk", "agent_id", "staged"
        )
    }
    found: Counter[str] = Counter()
    rejected: dict[object, set[str]] = {
        pk: set(_texts(payload, "paths")) for pk, name, payload in told if name in _REJECTED
    }
    for pk, name, payload in told:
        # Of a rejection from before, only that it was taken back is told here.
        counted = rejected.get(payload.get("rejection", pk), set())
        sign = 1 if name in _REJECTED else -1
        paths = counted & set(_texts(payload, "paths"))
        for run_id in _texts(payload, "runs"):
            agent_id, staged = runs.get(run_id, ("", set()))
            found[agent_id] += sign * len(paths & staged)
    return +found


def _texts(payload: Mapping[str, object], key: str) -> list[str]:
    value = payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []
