"""What a reviewer names and saw, held against what is staged now."""

from __future__ import annotations

from collections.abc import Collection

from django.utils.translation import gettext as _

from content.changes import Changes
from content.layers.digest import path_was_seen, was_seen
from content.layers.state import LayerView
from core.errors import Conflict, RuleViolation


def require_paths(view: LayerView, paths: Collection[str]) -> Collection[str]:
    """The paths, if each is staged in the layer; `RuleViolation` on `paths` otherwise."""
    known = set(view.changes.paths)
    unknown = [path for path in paths if path not in known]
    if unknown or not paths:
        message = (
            (
                _("Not staged in %(layer)s: %(unknown)s.")
                % {"layer": view.layer, "unknown": ", ".join(unknown)}
            )
            if unknown
            else _("Name at least one path.")
        )
        raise RuleViolation(message, code="unknown_path", details={"paths": [message]})
    return paths


def seen_changes(
    view: LayerView, seen: dict[bytes, bytes], paths: Collection[str] | None
) -> Changes:
    """The changes of these paths, or all, if each is just what the reviewer saw; else `Conflict` (`stale_review`)."""
    if paths is None:
        if not view.exists and not seen:
            raise RuleViolation(
                _("Nothing is staged in %(layer)s of this post.") % {"layer": view.layer},
                code="nothing_staged",
            )
        if len(view.changes) != len(seen):
            raise _stale([])
        paths = view.changes.paths
    else:
        gone = [
            path for path in paths if path not in view.changes.paths and path_was_seen(seen, path)
        ]
        if gone:
            raise _stale(gone)
        require_paths(view, paths)
    chosen = view.changes.only(paths)
    moved = [change.path for change in chosen if not was_seen(seen, change)]
    if moved:
        raise _stale(moved)
    return chosen


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
