"""The staged changes that a decision names, whole or by passages (`<path>#<passage>`), as the reviewer saw them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from content.comparison.change_comparison import passages_at, take_passages
from content.document.changes import Change, Changes, Value, same
from content.document.differences import SEPARATOR, base_path
from content.store.digest import path_was_seen, was_seen
from content.store.layer_state import LayerView
from proofroom.core.errors import Conflict, RuleViolation
from proofroom.definitions.richtext.schema import validate


@dataclass(frozen=True, slots=True)
class Selection:
    """`taken` are the changes that were named, `rest` what is left of the layer without them.

    Of a change that is named in part, each holds a part: `taken` leads to the value with the passages named,
    `rest` from there to all that is staged.
    """

    taken: Changes
    rest: Changes

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of what was named, without passages."""
        return self.taken.paths


def select_changes(view: LayerView, paths: Collection[str] | None) -> Selection:
    """Return what these paths name, or all. Raises `RuleViolation` on `paths` for what is not staged."""
    if paths is None:
        return Selection(view.changes, replace(view.changes, items=()))
    wanted = _wanted(view, paths)
    taken: list[Change] = []
    rest: list[Change] = []
    for change in view.changes:
        passages = wanted.get(change.path)
        if passages is None:
            rest.append(change)
        elif not passages:
            taken.append(change)
        else:
            middle = _mixture(view, change, passages)
            taken.append(replace(change, after=middle))
            rest.append(replace(change, before=middle))
    return Selection(
        replace(view.changes, items=tuple(taken)), replace(view.changes, items=tuple(rest))
    )


def select_rest(
    view: LayerView, paths: Collection[str] | None, kept: Mapping[str, Value] | None = None
) -> Selection:
    """As `select`, for what is dropped: `rest` leads from below to what stays staged.

    `kept` is that of `kept_without`, where it was settled before; else the passages in `paths` settle it.
    """
    if paths is None:
        return Selection(view.changes, replace(view.changes, items=()))
    if not paths:
        raise _unknown_path(_("Send at least one path."))
    stays = kept_without(view, paths) if kept is None else kept
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


def kept_without(view: LayerView, paths: Collection[str]) -> dict[str, Value]:
    """What stays staged at each path of which passages are dropped. Raises `RuleViolation` as `select` does."""
    if not paths:
        return {}
    changes = {change.path: change for change in view.changes}
    found: dict[str, Value] = {}
    for path, passages in _wanted(view, paths).items():
        if passages:
            change = changes[path]
            known = set(passages_at(change, view.below, view.document))
            found[path] = _mixture(view, change, known - passages)
    return found


def _mixture(view: LayerView, change: Change, passages: Collection[str]) -> Value:
    """The value with these passages. Raises `RuleViolation` where it would be no valid text."""
    value = take_passages(change, view.below, view.document, passages)
    if isinstance(value, dict) and value.get("type") == "doc" and (problems := validate(value)):
        message = _(
            "These passages belong together and must be decided on together: %(problem)s"
        ) % {"problem": problems[0]}
        raise RuleViolation(
            message, code="passages_belong_together", details={change.path: [message]}
        )
    return value


def _wanted(view: LayerView, paths: Collection[str]) -> dict[str, set[str]]:
    """The passages named of each path; none of them where the whole path is named, or all of them are."""
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
    """Return what these paths name, or all, if each is just what the reviewer saw; else `Conflict` (`stale_review`).

    A passage is what was seen where all of its change is.
    """
    if paths is None:
        if not view.exists and not seen:
            raise RuleViolation(
                _("This post has no changes in %(layer)s.") % {"layer": view.layer},
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
            "This changed since you opened the review: %(which)s. Nothing was "
            "applied. Check again and decide."
        )
        % {"which": which},
        code="stale_review",
        details={path: ["changed since you saw it"] for path in paths},
    )
