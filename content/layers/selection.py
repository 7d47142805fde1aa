"""The staged changes selected for a decision, whole or by passages (`<path>#<passage>`), as the reviewer saw them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from content.comparison.change_comparison import apply_passages, passages_at
from content.document.changes import Change, Changes, Value, same
from content.document.differences import SEPARATOR, base_path
from content.store.digest import path_was_seen, was_seen
from content.store.layer_state import LayerView
from proofroom.core.errors import Conflict, RuleViolation
from proofroom.definitions.richtext.schema import validate


@dataclass(frozen=True, slots=True)
class Selection:
    """`taken`: the selected changes. `rest`: the other changes of the layer.

    A change selected in part is in both: `taken` leads to the value with the selected passages, `rest` from there
    to the staged value.
    """

    taken: Changes
    rest: Changes

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the selected changes, without passages."""
        return self.taken.paths


def select_changes(view: LayerView, paths: Collection[str] | None) -> Selection:
    """Return the changes at these paths, or all. Raises `RuleViolation` on `paths` that are not staged."""
    if paths is None:
        return Selection(view.changes, replace(view.changes, items=()))
    wanted = _selected_passages(view, paths)
    selected: list[Change] = []
    rest: list[Change] = []
    for change in view.changes:
        passages = wanted.get(change.path)
        if passages is None:
            rest.append(change)
        elif not passages:
            selected.append(change)
        else:
            middle = _merge_passages(view, change, passages)
            selected.append(replace(change, after=middle))
            rest.append(replace(change, before=middle))
    return Selection(
        replace(view.changes, items=tuple(selected)), replace(view.changes, items=tuple(rest))
    )


def select_rest(
    view: LayerView, paths: Collection[str] | None, kept: Mapping[str, Value] | None = None
) -> Selection:
    """Select changes to remove: `rest` leads from the layer below to what remains staged.

    `kept`: result of `remaining_values` if computed before. Otherwise it is computed from `paths`.
    """
    if paths is None:
        return Selection(view.changes, replace(view.changes, items=()))
    if not paths:
        raise _unknown_path(_("Send at least one path."))
    stays = remaining_values(view, paths) if kept is None else kept
    named = set(map(base_path, paths))
    rest: list[Change] = []
    dropped: list[Change] = []
    for change in view.changes:
        if change.path not in named:
            rest.append(change)
        elif change.path not in stays or same(stays[change.path], change.before):
            dropped.append(change)
        else:
            middle = stays[change.path]
            rest.append(replace(change, after=middle))
            dropped.append(replace(change, before=middle))
    return Selection(
        replace(view.changes, items=tuple(dropped)), replace(view.changes, items=tuple(rest))
    )


def remaining_values(view: LayerView, paths: Collection[str]) -> dict[str, Value]:
    """Return what remains staged at each path with removed passages. Raises as `select_changes` does."""
    if not paths:
        return {}
    changes = {change.path: change for change in view.changes}
    found: dict[str, Value] = {}
    for path, passages in _selected_passages(view, paths).items():
        if passages:
            change = changes[path]
            known = set(passages_at(change, view.below, view.document))
            found[path] = _merge_passages(view, change, known - passages)
    return found


def _merge_passages(view: LayerView, change: Change, passages: Collection[str]) -> Value:
    """Return the value with these passages applied. Raises `RuleViolation` if it is not valid rich text."""
    value = apply_passages(change, view.below, view.document, passages)
    if isinstance(value, dict) and value.get("type") == "doc" and (problems := validate(value)):
        message = _(
            "These passages belong together and must be decided on together: %(problem)s"
        ) % {"problem": problems[0]}
        raise RuleViolation(
            message, code="passages_belong_together", details={change.path: [message]}
        )
    return value


def _selected_passages(view: LayerView, paths: Collection[str]) -> dict[str, set[str]]:
    """Return the selected passages by path, an empty set for a whole path."""
    if not paths:
        raise _unknown_path(_("Send at least one path."))
    changes = {change.path: change for change in view.changes}
    passages: dict[str, set[str]] = {}
    whole: set[str] = set()
    unknown: list[str] = []
    for path in paths:
        base, separator, passage = path.partition(SEPARATOR)
        if base not in changes:
            unknown.append(path)
        elif not separator:
            whole.add(base)
        else:
            passages.setdefault(base, set()).add(passage)
    for base, named in passages.items():
        known = set(passages_at(changes[base], view.below, view.document))
        unknown += [f"{base}{SEPARATOR}{passage}" for passage in sorted(named - known)]
        if named == known:
            whole.add(base)
    if unknown:
        message = _("No change waiting in %(layer)s for: %(unknown)s.")
        raise _unknown_path(message % {"layer": view.layer, "unknown": ", ".join(unknown)})
    return {**passages, **{base: set() for base in whole}}


def _unknown_path(message: str) -> RuleViolation:
    return RuleViolation(message, code="unknown_path", details={"paths": [message]})


def require_unchanged(
    view: LayerView, seen: dict[bytes, bytes], paths: Collection[str] | None
) -> Selection:
    """Return the changes at these paths, or all, if they are what the reviewer saw.

    Raises `Conflict` (`stale_review`) otherwise. For a passage, its complete change must be what the reviewer saw.
    """
    if paths is None:
        if not view.exists and not seen:
            raise RuleViolation(
                _("This post has no changes in %(layer)s.") % {"layer": view.layer},
                code="nothing_staged",
            )
        # Approving everything must not include changes that the reviewer did not see.
        if len(view.changes) != len(seen):
            raise _stale_review([])
    wanted = view.changes.paths if paths is None else tuple(map(base_path, paths))
    staged = {change.path: change for change in view.changes}
    # A path that was never staged is an error of the caller, which `select_changes` reports.
    gone = [path for path in wanted if path not in staged and path_was_seen(seen, path)]
    moved = [path for path in wanted if path in staged and not was_seen(seen, staged[path])]
    if gone:
        raise _stale_review(gone)
    if moved and all(path in staged for path in wanted):
        raise _stale_review(moved)
    return select_changes(view, paths)


def _stale_review(paths: list[str]) -> Conflict:
    which = ", ".join(paths) if paths else "what is staged"
    return Conflict(
        _(
            "This changed since you opened the review: %(which)s. Nothing was "
            "applied. Check again and decide."
        )
        % {"which": which},
        code="stale_review",
        details={path: ["changed since you saw it"] for path in paths},
    )
