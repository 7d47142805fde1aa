"""What reviewers rejected, read from the events: live content and revisions know nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext as _

from content.layers import Layers
from content.models import Layer, Post
from content.review.labels import label_of, module_names
from core.models import Event

_NAMES: Final = {f"post.{layer.value}.reject": layer for layer in Layer}
_LABELS: Final = {Layer.REVIEW: "Review", Layer.AI_REVIEW: "AI Review"}
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Rejection:
    """Changes that a person dropped out of a layer. `runs` are those that had proposed some of them."""

    layer: str
    by: str
    at: datetime
    labels: tuple[str, ...]
    note: str
    runs: tuple[str, ...]


def rejections_of(post: Post, layers: Layers) -> list[Rejection]:
    """The latest rejections of a post, newest first. One query."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES).select_related("actor")
    return [
        _read(event, layers, _texts(event, "paths")) for event in events.order_by("-id")[:_MOST]
    ]


def rejections_of_run(
    post: Post, layers: Layers, run_id: str, staged: Sequence[str], since: datetime
) -> list[Rejection]:
    """Those of what a run had staged, newest first. One query."""
    events = Event.objects.filter(post_id=post.pk, name__in=_NAMES, created_at__gte=since)
    found = []
    for event in events.select_related("actor").order_by("-id")[:_MOST]:
        # A list inside JSON is searched here: the databases don't share a lookup for it.
        paths = [path for path in _texts(event, "paths") if path in staged]
        if paths and run_id in _texts(event, "runs"):
            found.append(_read(event, layers, paths))
    return found


def _read(event: Event, layers: Layers, paths: Sequence[str]) -> Rejection:
    document = layers.ai_review.document
    names = module_names(document, layers.review.document, layers.live)
    return Rejection(
        layer=_LABELS[_NAMES[event.name]],
        by=event.actor.username if event.actor else _("a deleted account"),
        at=event.created_at,
        labels=tuple(label_of(path, document, names) for path in paths),
        note=str(event.payload.get("note") or ""),
        runs=tuple(_texts(event, "runs")),
    )


def _texts(event: Event, key: str) -> list[str]:
    value = event.payload.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []
