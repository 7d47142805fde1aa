"""Rejections by reviewers, read from the events, and those beside a proposal that comes for the same place again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from content.layers import Layers, LayerView
from content.layers.rejected_changes import (
    EarlierRejection,
    rejections_before,
    rejections_before_queued,
)
from content.models import Layer, Post, QueuedChange, RejectedChange
from content.review.labels import label_of, module_names
from proofroom.core.models import Event
from proofroom.editorial.posts.post_pages import layer_label, rejection_url

_NAMES: Final = {f"post.{layer.value}.reject": layer for layer in Layer}
_MAX_EVENTS: Final = 100
_NEWEST_SHOWN: Final = 3
_MAX_NOTE_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class DroppedChange:
    """One change of a rejection. `back_by` took it back."""

    label: str
    back_by: str = ""


@dataclass(frozen=True, slots=True)
class RejectionRow:
    """Changes that a person dropped out of a layer. `runs` are those that had proposed some of them.

    `url` is where they can be taken back, empty where none of them is kept.
    """

    layer: str
    by: str
    at: datetime
    changes: tuple[DroppedChange, ...]
    note: str
    runs: tuple[str, ...]
    url: str

    @property
    def back_by(self) -> str:
        """Who took all of it back; empty where some of it stands, or several people did."""
        names = {change.back_by for change in self.changes}
        return names.pop() if len(names) == 1 else ""


def rejections_of(post: Post, layers: Layers) -> list[RejectionRow]:
    """The latest rejections of a post, newest first. Two queries."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES).select_related("actor")
    found = [(event, _strings(event, "paths")) for event in events.order_by("-id")[:_MAX_EVENTS]]
    return _read_rejections(post, layers, found)


def rejections_of_run(
    post: Post, layers: Layers, run_id: str, staged: Sequence[str], since: datetime
) -> list[RejectionRow]:
    """Those of what a run had staged, newest first. Two queries."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES, created_at__gte=since)
    found: list[tuple[Event, list[str]]] = []
    for event in events.select_related("actor").order_by("-id")[:_MAX_EVENTS]:
        # A list inside JSON is searched here: the databases don't share a lookup for it.
        paths = [path for path in _strings(event, "paths") if path in staged]
        if paths and run_id in _strings(event, "runs"):
            found.append((event, paths))
    return _read_rejections(post, layers, found)


def _read_rejections(
    post: Post, layers: Layers, found: Sequence[tuple[Event, Sequence[str]]]
) -> list[RejectionRow]:
    if not found:
        return []
    rows: dict[int, dict[str, RejectedChange]] = defaultdict(dict)
    ids = [event.pk for event, _paths in found]
    kept = RejectedChange.objects.filter(post=post, rejection__in=ids)
    for row in kept.defer("proposal").annotate(is_there=Q(proposal__isnull=False)):
        rows[row.rejection][row.path] = row
    document = layers.ai_review.document
    names = module_names(document, layers.review.document, layers.live)
    rejections = []
    for event, paths in found:
        dropped = rows[event.pk]
        is_kept = any(getattr(row, "is_there", False) for row in dropped.values())
        changes = (
            DroppedChange(
                label_of(path, document, names),
                dropped[path].taken_back_by if path in dropped else "",
            )
            for path in paths
        )
        rejections.append(
            RejectionRow(
                layer=layer_label(_NAMES[event.name]),
                by=event.actor.username if event.actor else _("a deleted account"),
                at=event.created_at,
                changes=tuple(changes),
                note=str(event.payload.get("note") or ""),
                runs=tuple(_strings(event, "runs")),
                url=rejection_url(post, [event.pk]) if is_kept else "",
            )
        )
    return rejections


def _strings(event: Event, key: str) -> list[str]:
    value = event.payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class EarlierRejectionNotes:
    """The rejections of a card, newest first; the older ones are folded."""

    newest: Sequence[EarlierRejection]
    older: Sequence[EarlierRejection]

    @property
    def has_same(self) -> bool:
        """Whether the same words were rejected before."""
        return any(one.is_same for one in (*self.newest, *self.older))


def load_earlier_rejections(post: Post, view: LayerView) -> dict[str, EarlierRejectionNotes]:
    """Return what the cards of a layer say, by path. One query."""
    return {
        path: EarlierRejectionNotes(ones[:_NEWEST_SHOWN], ones[_NEWEST_SHOWN:])
        for path, ones in rejections_before(post, view.changes).items()
    }


def rejection_reasons(rows: Iterable[QueuedChange]) -> Mapping[int, list[str]]:
    """Return what lines of the inbox say, by their ids. One query."""
    reasons = {}
    for pk, ones in rejections_before_queued(rows).items():
        latest = next((one.note for one in ones if one.note), "")
        note = " ".join(Truncator(latest).chars(_MAX_NOTE_LENGTH).split())
        reasons[pk] = [
            _("rejected before: “%(note)s”") % {"note": note} if note else _("rejected before")
        ]
        if any(one.is_same for one in ones):
            reasons[pk].append(_("the same words were rejected"))
    return reasons
