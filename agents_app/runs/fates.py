"""What became of what a run proposed, path by path."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agents_app.models import AgentRun
from content.layers import Layers, LayerView
from content.models import Layer, Provenance
from core.models import Event

_REJECTED: Final = tuple(f"post.{layer.value}.reject" for layer in Layer)
_RECONSIDERED: Final = tuple(f"post.{layer.value}.reconsider" for layer in Layer)
_MOST_EVENTS: Final = 200


class Fate(StrEnum):
    """`gone`: somebody wrote something else over it before anybody decided."""

    WAITING = "waiting"
    SUBMITTED = "submitted"
    ACCEPTED = "accepted"
    EDITED = "edited"
    REJECTED = "rejected"
    TAKEN_BACK = "taken-back"
    GONE = "gone"


def fates_of(run: AgentRun, layers: Layers) -> Mapping[str, Fate]:
    """The fate of each path that the run staged in its own post. Two queries."""
    staged = [str(path) for path in run.staged]
    accepted = _accepted(run)
    rejected = _rejected(run, staged)
    return {path: _fate(path, run, layers, accepted, rejected) for path in staged}


def _fate(
    path: str,
    run: AgentRun,
    layers: Layers,
    accepted: Mapping[str, bool],
    rejected: frozenset[str],
) -> Fate:
    if _waits(layers.ai_review, path, run):
        return Fate.WAITING
    if _waits(layers.review, path, run):
        return Fate.SUBMITTED
    if run.reverted_at is not None:
        return Fate.TAKEN_BACK
    if path in accepted:
        return Fate.EDITED if accepted[path] else Fate.ACCEPTED
    return Fate.REJECTED if path in rejected else Fate.GONE


def _waits(view: LayerView, path: str, run: AgentRun) -> bool:
    mark = view.marks.get(path)
    return mark is not None and mark.run_id == str(run.pk) and path in view.changes.paths


def _accepted(run: AgentRun) -> dict[str, bool]:
    """The paths that went live, and whether a person changed the words before."""
    rows = Provenance.objects.filter(run_id=str(run.pk), post=run.post).order_by("pk")
    return {path: bool(by) for path, by in rows.values_list("path", "edited_by_name")}


def _rejected(run: AgentRun, staged: list[str]) -> frozenset[str]:
    events = Event.objects.filter(
        post_id=run.post_id, name__in=_REJECTED + _RECONSIDERED, created_at__gte=run.created_at
    )
    found: set[str] = set()
    # A list inside JSON is searched here: the databases don't share a lookup for it.
    latest = list(events.order_by("-id").values_list("name", "payload")[:_MOST_EVENTS])
    for name, payload in reversed(latest):
        runs, paths = payload.get("runs"), payload.get("paths")
        if isinstance(runs, list) and str(run.pk) in runs and isinstance(paths, list):
            own = {str(path) for path in paths if path in staged}
            found = found | own if name in _REJECTED else found - own
    return frozenset(found)
