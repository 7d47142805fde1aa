"""What is staged, as the wire has it."""

from __future__ import annotations

from collections.abc import Mapping

from content.changes import ABSENT, Change, Value
from content.document import ModuleDocument
from content.layers import LayerView, Submitted, digest_of
from content.layers.marks import mark_of
from content.models import Post, Status
from content.presenters.modules import Wire
from content.presenters.rejections import with_rejections
from content.review.change_comparison import compare_change
from content.review.labels import label_of, module_names
from content.review.passages import names_of
from content.review.references import References
from content.review.risk import assess
from content.review.shown import piece_of
from core.json import Json


def layer_changes(post: Post, view: LayerView, references: References) -> Wire:
    """The wire form of what a layer changes."""
    return {
        "postId": post.pk,
        "layer": view.layer.value,
        "version": view.version,
        "baseVersion": post.version,
        "digest": digest_of(view.changes),
        "changes": with_rejections(
            post, view, changes(view, references, is_live=post.status == Status.PUBLISHED)
        ),
    }


def submitted(done: Submitted) -> Wire:
    """The wire form of a submit."""
    return {
        "postId": done.post.pk,
        "submitted": list(done.submitted),
        "conflicts": [
            {
                "path": conflict.path,
                "review": plain(conflict.ours),
                "aiReview": plain(conflict.theirs),
            }
            for conflict in done.conflicts
        ],
        "reviewVersion": done.review_version,
    }


def changes(view: LayerView, references: References, *, is_live: bool) -> list[Wire]:
    """What a layer changes, as its review shows it. `is_live` where the post is published."""
    names = module_names(view.document, view.below)
    return [_change(item, view, names, references, is_live=is_live) for item in view.changes]


def _change(
    item: Change,
    view: LayerView,
    names: Mapping[str, str],
    references: References,
    *,
    is_live: bool,
) -> Wire:
    mark = mark_of(view.marks, item.path)
    is_drifted = item.path in view.drifted
    found, kind = compare_change(item, view.below, view.document, references.shared)
    comparison = found.comparison
    passages = names_of(item, comparison, kind)
    risk = assess(comparison, is_live=is_live, mark=mark, is_drifted=is_drifted)
    return {
        "path": item.path,
        "kind": item.kind,
        "label": label_of(item.path, view.document, names),
        "before": plain(item.before),
        "after": plain(item.after),
        "by": {"id": mark.user_id, "username": mark.user} if mark else None,
        "agentId": (mark.agent_id or None) if mark else None,
        "runId": (mark.run_id or None) if mark else None,
        "via": mark.via if mark else None,
        "editedBy": (mark.edited_by or None) if mark else None,
        "at": mark.at if mark else None,
        "conflict": is_drifted or bool(mark and mark.conflict),
        "flags": list(risk.flags),
        "pieces": [
            piece_of(one, references, passages.get(one.passage, ""))
            for one in comparison.differences
        ],
    }


def plain(value: Value) -> Json:
    """A value of a change as JSON."""
    if value is ABSENT:
        return None
    if isinstance(value, ModuleDocument):
        return value.to_json(0)
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]
