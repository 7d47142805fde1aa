"""Changes of structure in words: modules that moved, came or went."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.changes import Change
from content.definitions import modules
from content.document import ModuleDocument, PostDocument
from content.review.labels import module_label
from content.review.pieces import Piece, piece_of, rows_of
from content.review.references import References


def moved(change: Change, after: PostDocument, names: Mapping[str, str]) -> str:
    before, now = change.before, change.after
    if not isinstance(before, int) or not isinstance(now, int):
        return _("Moved")
    places = abs(now - before)
    if before == now:
        text = _("Changed its place among the others")
    elif now > before:
        text = ngettext("Moved down %(count)s place", "Moved down %(count)s places", places)
    else:
        text = ngettext("Moved up %(count)s place", "Moved up %(count)s places", places)
    return f"{text % {'count': places}}; {_place(after, now, names)}"


def _place(document: PostDocument, at: int, names: Mapping[str, str]) -> str:
    if not 0 < at <= len(document.order):
        return _("now first")
    return _("now after %(module)s") % {"module": names[document.order[at - 1]]}


def whole_module(
    change: Change, after: PostDocument, names: Mapping[str, str], references: References
) -> Piece:
    old, new = _values(change.before), _values(change.after)
    module = change.after if isinstance(change.after, ModuleDocument) else change.before
    assert isinstance(module, ModuleDocument)  # noqa: S101  # the caller looked
    definition = modules.get(module.type)
    note = ""
    if change.kind == "added":
        note = f"{module_label(module.type)}, {_place(after, after.order.index(module.id), names)}"
    if module.scope == "global":
        shared = _("Shared module “%(slug)s”; only its overrides for this post are listed.")
        note = f"{note}. {shared % {'slug': module.global_slug}}".removeprefix(". ")
    if definition is None:
        return piece_of("json", None, old, new, references)
    rows = rows_of(definition.Props, old, new, references)
    return Piece("rows", rows=tuple(rows), note=note)


def _values(value: object) -> dict[str, object] | None:
    return {**value.props, **value.overrides} if isinstance(value, ModuleDocument) else None
