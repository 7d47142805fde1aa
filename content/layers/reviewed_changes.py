"""Compares what a reviewer saw with what is staged now."""

from __future__ import annotations

from collections.abc import Collection

from django.utils.translation import gettext as _

from content.layers.digest import path_was_seen, was_seen
from content.layers.selection import Selection, select_changes
from content.layers.state import LayerView
from content.review.differences import base_path
from proofroom.core.errors import Conflict, RuleViolation


def require_unchanged(
    view: LayerView, seen: dict[bytes, bytes], paths: Collection[str] | None
) -> Selection:
    """Return what these paths name, or all, if each is just what the reviewer saw; else `Conflict` (`stale_review`).

    A passage is what was seen where all of its change is.
    """
    if paths is None:
        if not view.exists and not seen:
            raise RuleViolation(
                _("Nothing is staged in %(layer)s of this post.") % {"layer": view.layer},
                code="nothing_staged",
            )
        if len(view.changes) != len(seen):
            raise _stale([])
    wanted = view.changes.paths if paths is None else tuple(map(base_path, paths))
    staged = {change.path: change for change in view.changes}
    gone = [path for path in wanted if path not in staged and path_was_seen(seen, path)]
    moved = [path for path in wanted if path in staged and not was_seen(seen, staged[path])]
    if gone:
        raise _stale(gone)
    if moved and all(path in staged for path in wanted):
        raise _stale(moved)
    return select_changes(view, paths)


def _stale(paths: list[str]) -> Conflict:
    which = ", ".join(paths) if paths else "what is staged"
    return Conflict(
        _(
            "This moved since you opened the review: %(which)s. Nothing was changed; look again "
            "and decide."
        )
        % {"which": which},
        code="stale_review",
        details={path: ["changed since you saw it"] for path in paths},
    )
