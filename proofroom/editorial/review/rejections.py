"""Rejections by reviewers, read from the events: live content and revisions know nothing of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q
from django.utils.translation import gettext as _

from content.layers import Layers
from content.models import Layer, Post, RejectedChange
from content.review.labels import label_of, module_names
from proofroom.core.models import Event
from proofroom.editorial.posts.post_pages import rejection_url

_NAMES: Final = {f"post.{layer.value}.reject": layer for layer in Layer}
_LABELS: Final = {Layer.REVIEW: "Review", Layer.AI_REVIEW: "AI Review"}
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Dropped:
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
    changes: tuple[Dropped, ...]
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
    found = [(event, _texts(event, "paths")) for event in events.order_by("-id")[:_MOST]]
    return _read_all(post, layers, found)


def rejections_of_run(
    post: Post, layers: Layers, run_id: str, staged: Sequence[str], since: datetime
) -> list[RejectionRow]:
    """Those of what a run had staged, newest first. Two queries."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES, created_at__gte=since)
    found: list[tuple[Event, list[str]]] = []
    for event in events.select_related("actor").order_by("-id")[:_MOST]:
        # A list inside JSON is searched here: the databases don't share a lookup for it.
        paths = [path for path in _texts(event, "paths") if path in staged]
        if paths and run_id in _texts(event, "runs"):
            found.append((event, paths))
    return _read_all(post, layers, found)


def _read_all(
    post: Post, layers: Layers, found: Sequence[tuple[Event, Sequence[str]]]
) -> list[RejectionRow]:
    if not found:
        return []
    rows: dict[int, dict[str, RejectedChange]] = defaultdict(dict)
    ids = [event.pk for event, _paths in found]
    kept = RejectedChange.objects.filter(post=post, rejection__in=ids)
    for row in kept.defer("proposal").annotate(is_there=Q(proposal__isnull=False)):
        rows[row.rejection][row.path] = row
    return [_read(post, event, layers, paths, rows[event.pk]) for event, paths in found]


def _read(
    post: Post,
    event: Event,
    layers: Layers,
    paths: Iterable[str],
    rows: Mapping[str, RejectedChange],
) -> RejectionRow:
    document = layers.ai_review.document
    names = module_names(document, layers.review.document, layers.live)
    is_kept = any(getattr(row, "is_there", False) for row in rows.values())
    return RejectionRow(
        layer=_LABELS[_NAMES[event.name]],
        by=event.actor.username if event.actor else _("a deleted account"),
        at=event.created_at,
        changes=tuple(
            Dropped(
                label_of(path, document, names), rows[path].taken_back_by if path in rows else ""
            )
            for path in paths
        ),
        note=str(event.payload.get("note") or ""),
        runs=tuple(_texts(event, "runs")),
        url=rejection_url(post, [event.pk]) if is_kept else "",
    )


def _texts(event: Event, key: str) -> list[str]:
    value = event.payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []
