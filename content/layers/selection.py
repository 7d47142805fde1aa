"""Which staged changes a decision speaks of: whole ones, or passages of them (`<path>#<passage>`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from content.changes import Change, Changes
from content.layers.state import LayerView
from content.review.passages import SEPARATOR, passages_at, with_passages
from core.errors import RuleViolation


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


def base_path(path: str) -> str:
    """The path of the change that a path speaks of."""
    return path.partition(SEPARATOR)[0]


def select(view: LayerView, paths: Collection[str] | None) -> Selection:
    """What these paths name, or all. Raises `RuleViolation` on `paths` for what is not staged."""
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
            middle = with_passages(change, view.below, view.document, passages)
            taken.append(replace(change, after=middle))
            rest.append(replace(change, before=middle))
    return Selection(
        replace(view.changes, items=tuple(taken)), replace(view.changes, items=tuple(rest))
    )


def without(view: LayerView, paths: Collection[str] | None) -> Selection:
    """As `select`, for what is dropped: `rest` leads from below to the value without the passages named."""
    found = select(view, paths)
    wanted = {} if paths is None else _wanted(view, paths)
    rest: list[Change] = []
    dropped: list[Change] = []
    for change in view.changes:
        passages = wanted.get(change.path)
        if paths is None or (passages is not None and not passages):
            dropped.append(change)
        elif passages is None:
            rest.append(change)
        else:
            known = set(passages_at(change, view.below, view.document))
            kept = with_passages(change, view.below, view.document, known - passages)
            rest.append(replace(change, after=kept))
            dropped.append(replace(change, before=kept))
    return Selection(
        replace(found.taken, items=tuple(dropped)), replace(found.rest, items=tuple(rest))
    )


def _wanted(view: LayerView, paths: Collection[str]) -> dict[str, set[str]]:
    """The passages named of each path; none of them where the whole path is named, or all of them are."""
    if not paths:
        raise _unknown(_("Name at least one path."))
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
        message = _("Not staged in %(layer)s: %(unknown)s.")
        raise _unknown(message % {"layer": view.layer, "unknown": ", ".join(unknown)})
    return {**passages, **{base: set() for base in whole}}


def _unknown(message: str) -> RuleViolation:
    return RuleViolation(message, code="unknown_path", details={"paths": [message]})
