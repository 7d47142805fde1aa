"""The rows of the queue, and the expected rows by the drafts."""

from __future__ import annotations

from content.inbox.judgement import judge
from content.inbox.rows import build_row, states_of
from content.models import Post, QueuedChange
from tests import make

_OWN = {"id", "at"}


def _said(row: QueuedChange) -> dict[str, object]:
    names = [field.attname for field in QueuedChange._meta.concrete_fields]
    return {name: getattr(row, name) for name in names if name not in _OWN}


def queued() -> list[dict[str, object]]:
    rows = QueuedChange.objects.order_by("post_id", "layer", "path")
    return [_said(row) for row in rows]


def by_the_drafts() -> list[dict[str, object]]:
    """Return all rows computed from the drafts."""
    found = []
    for post in Post.objects.order_by("pk"):
        layers = make.layers(post)
        for view in (layers.ai_review, layers.review):
            states = states_of(view)
            for judged in judge(post, view, view.changes):
                assert view.draft is not None
                state = states[judged.change.path]
                found.append(_said(build_row(post, view, view.draft, judged, state)))
    return sorted(found, key=lambda row: (str(row["post_id"]), row["layer"], row["path"]))


def of(post: Post, path: str) -> QueuedChange:
    return QueuedChange.objects.get(post=post, path=path)
