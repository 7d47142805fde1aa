"""The rows follow every write of a layer, in its transaction; and all of them made anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import Q

from content.inbox.rows import mark_of_rows, row_of, states_of
from content.layers import LayerView
from content.layers.state import open_layers_of_many
from content.models import Draft, Post, QueuedChange

_BATCH: Final = 100
_COLUMNS: Final = [
    field.name
    for field in QueuedChange._meta.concrete_fields
    if field.name not in ("id", "draft", "path")
]


def follow(post: Post, views: Sequence[LayerView]) -> None:
    """Make the rows of these layers say what they hold now. Only what moved is written."""
    stored = QueuedChange.objects.filter(
        post=post, layer__in=[view.layer for view in views]
    ).values_list("layer", "path", "state", "pk")
    known = {(layer, path): (state, pk) for layer, path, state, pk in stored}
    moved: list[QueuedChange] = []
    for view in views:
        states = states_of(view)
        for change in view.changes:
            state = states[change.path]
            was, _ = known.pop((view.layer, change.path), ("", 0))
            if was != state and view.draft is not None:
                moved.append(row_of(post, view, view.draft, change, state))
    if known:
        QueuedChange.objects.filter(pk__in=[pk for _, pk in known.values()]).delete()
    if moved:
        QueuedChange.objects.bulk_create(
            moved,
            update_conflicts=True,
            unique_fields=["draft", "path"],
            update_fields=_COLUMNS,
        )


def rebuild() -> int:
    """Make every row anew from the drafts. Safe to run twice, and beside writers. Answers how many there are then."""
    ids = list(
        Post.objects.filter(drafts__is_empty=False)
        .distinct()
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    for begin in range(0, len(ids), _BATCH):
        with transaction.atomic():
            locked = Post.objects.filter(pk__in=ids[begin : begin + _BATCH]).order_by("pk")
            posts = list(locked.select_for_update(of=("self",), no_key=True))
            for layers in open_layers_of_many(posts):
                follow(layers.post, [layers.review, layers.ai_review])
    QueuedChange.objects.filter(draft__is_empty=True).delete()
    return QueuedChange.objects.count()


def lacking() -> bool:
    """Whether a draft that holds something has no row, or rows are of nothing, of another key or made another way."""
    wrong = Q(draft__is_empty=True) | ~Q(state__startswith=mark_of_rows())
    return (
        Draft.objects.filter(is_empty=False, queued__isnull=True).exists()
        or QueuedChange.objects.filter(wrong).exists()
    )
