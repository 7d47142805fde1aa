"""What was rejected before where something is proposed again, as the wire has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from content.layers import LayerView
from content.layers.earlier_rejections import EarlierRejection, rejections_before
from content.models import Post
from content.presenters.modules import Wire
from content.store import iso


def with_rejections(post: Post, view: LayerView, items: Sequence[Wire]) -> list[Wire]:
    """The changes of a layer, each with what was rejected before on its path, newest first. One query."""
    earlier = rejections_before(post, view.changes)
    return [
        {**item, "rejectedBefore": rejected_before(earlier.get(str(item["path"]), ()))}
        for item in items
    ]


def rejected_before(earlier: Iterable[EarlierRejection]) -> list[Wire]:
    """The wire form of rejections; `same` where the same words were rejected."""
    return [
        {
            "at": iso(one.at),
            "by": None if one.by_id is None else {"id": one.by_id, "username": one.by},
            "note": one.note,
            "same": one.is_same,
        }
        for one in earlier
    ]
