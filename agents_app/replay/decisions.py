"""Decisions of people about the proposals of past runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agents_app.models import AgentRun, RunStatus
from content.changes import value_at
from content.document import PostDocument
from content.models import Layer, Provenance
from proofroom.core.json import Json
from proofroom.core.models import Event

_REJECTIONS: Final = tuple(f"post.{layer.value}.reject" for layer in Layer)
_RECONSIDERED: Final = tuple(f"post.{layer.value}.reconsider" for layer in Layer)
_LOOKED_AT: Final = 20
"""Runs that are looked through for each that is wanted: most are not decided on yet, or proposed nothing."""


@dataclass(frozen=True, slots=True)
class DecidedRun:
    """A run with what was approved of it, as it went live, and the paths that were rejected."""

    run: AgentRun
    approved: Mapping[str, Json]
    rejected: tuple[str, ...] = field(default=())


def decided_runs(agent_id: str, last: int) -> list[DecidedRun]:
    """The latest runs of an agent that people decided on, newest first. Three queries."""
    runs = AgentRun.objects.filter(
        agent_id=agent_id, status=RunStatus.SUCCEEDED, post__isnull=False
    ).exclude(staged=[])
    rows = list(runs.order_by("-created_at", "pk")[: last * _LOOKED_AT])
    approved: dict[str, dict[str, Json]] = defaultdict(dict)
    ids = [str(run.pk) for run in rows]
    live = Provenance.objects.filter(run_id__in=ids).select_related("revision").order_by("pk")
    for row in live:
        value = value_at(PostDocument.from_json(row.revision.document), row.path)
        # Whole modules are compared by their props, which have paths of their own.
        if isinstance(value, str | int | float | bool | list | tuple | dict) or value is None:
            approved[row.run_id][row.path] = list(value) if isinstance(value, tuple) else value
    # Of a path that was first rejected and later approved, both were decided: the last word is the approval's.
    rejected: dict[str, set[str]] = defaultdict(set)
    by_id = {str(run.pk): run for run in rows}
    posts = {run.post_id for run in rows}
    names = _REJECTIONS + _RECONSIDERED
    for event in Event.objects.filter(name__in=names, post_id__in=posts).order_by("id"):
        paths, of = event.payload.get("paths"), event.payload.get("runs")
        for run_id in of if isinstance(of, list) else ():
            run = by_id.get(str(run_id))
            if run is not None and run.post_id == event.post_id and isinstance(paths, list):
                own = {str(path) for path in paths if path in run.staged}
                told = rejected[str(run_id)]
                rejected[str(run_id)] = told | own if event.name in _REJECTIONS else told - own
    found = [
        DecidedRun(run, approved[str(run.pk)], tuple(sorted(rejected[str(run.pk)])))
        for run in rows
        if approved[str(run.pk)] or rejected[str(run.pk)]
    ]
    return found[:last]
