"""The rows of a layer: one for each change that waits in it. Pure: no queries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from content.changes import ABSENT, Change, Value, value_at
from content.definitions import modules
from content.definitions.words import words_of
from content.document import ModuleDocument, PostDocument
from content.layers import LayerView
from content.layers.digest import fingerprint
from content.layers.marks import Mark, mark_of
from content.models import Draft, Post, QueuedChange
from content.review.cards import text_of
from content.review.references import kind_at
from content.review.summary import Text
from content.waiting.excerpts import clipped, excerpts
from content.waiting.risk import is_outward, reasons_of, risk_of

_MADE_BY: Final = 1
"""Grows when rows come to say something else of the same change: then all of them are made anew."""
_PLAIN: Final = frozenset(
    {"text", "textarea", "url", "number", "boolean", "select", "date", "moment", "icon"}
)
"""Kinds of fields whose words are all there is to them."""
_NOBODY: Final = Mark(user_id=None, user="", via="", at="")


def states_of(view: LayerView) -> dict[str, str]:
    """What each row of the layer is to be made from, by path, as a hash: cheap beside the row."""
    return {
        change.path: _hash(
            _MADE_BY,
            fingerprint(change),
            _hands(mark_of(view.marks, change.path)),
            change.path in view.drifted,
        )
        for change in view.changes
    }


def _hands(mark: Mark | None) -> list[str | int | bool | None]:
    """What a row says of a mark."""
    if mark is None:
        return []
    who = [mark.user_id, mark.user, mark.via, mark.at]
    return [*who, mark.agent_id, mark.run_id, mark.edited_by, mark.conflict]


def row_of(post: Post, view: LayerView, draft: Draft, change: Change, state: str) -> QueuedChange:
    """The row of one change, not yet stored."""
    mark = mark_of(view.marks, change.path) or _NOBODY
    kind, before, after = texts_of(view, change)
    shown = excerpts(before.words, after.words)
    reasons = reasons_of(
        change,
        kind,
        (before, after),
        # Facts of what both have in common are no news, and cost time to find.
        (replace(before, words=shown.old), replace(after, words=shown.new)),
        mark,
        drifted=change.path in view.drifted,
        language=post.locale,
    )
    subject = subject_of(view, change)
    return QueuedChange(
        draft=draft,
        post=post,
        layer=view.layer,
        path=change.path,
        kind=change.kind,
        subject=subject,
        risk=risk_of(reasons),
        reasons=reasons,
        is_outward=is_outward(change.path),
        is_ai=mark.is_ai,
        author_account=mark.user_id,
        author_name=mark.user,
        edited_by_name=mark.edited_by,
        agent_id=mark.agent_id,
        run_id=mark.run_id,
        via=mark.via,
        at=parse_datetime(mark.at) or timezone.now() if mark.at else draft.updated_at,
        before=shown.before,
        after=shown.after,
        is_whole=shown.is_whole and change.kind == "changed" and kind in _PLAIN,
        like=_hash(
            view.layer, mark.agent_id or [mark.via, mark.user_id], change.kind, subject, post.type
        ),
        twin=_hash(view.layer, shown.gone, shown.come) if shown.gone and shown.come else "",
        seen=fingerprint(change),
        state=state,
    )


def subject_of(view: LayerView, change: Change) -> str:
    """The place of a change without the ids in it."""
    if change.module_id is None:
        return change.path[:200]
    module = _where(view, change).module(change.module_id)
    rest = change.path.split(".", 3)[2:]
    return ".".join(["module", module.type if module else "", *rest[-1:]])[:200]


def texts_of(view: LayerView, change: Change) -> tuple[str, Text, Text]:
    """The kind of the field, and its words before and after."""
    if change.kind == "moved":
        return "position", Text(""), Text("")
    if isinstance(change.after, ModuleDocument) or isinstance(change.before, ModuleDocument):
        return "module", _module_text(change.before), _module_text(change.after)
    kind, _ = kind_at(change.path, _where(view, change))
    was: Value = change.before
    if was is ABSENT and ".overrides." in change.path:
        was = value_at(view.below, change.path.replace(".overrides.", ".props."))
    return kind, _text(kind, was), _text(kind, change.after)


def _where(view: LayerView, change: Change) -> PostDocument:
    """The document that has what the path leads to."""
    is_there = change.module_id is None or view.document.module(change.module_id)
    return view.document if is_there else view.below


def _text(kind: str, value: object) -> Text:
    text = text_of(kind, value)
    if text.words or value is ABSENT or value is None:
        return text
    if isinstance(value, bool | int | float | str):
        # An id says nothing to a reader; what it stands for is shown where the change is opened.
        words = "" if kind in ("media", "post-reference", "form-reference") else str(value)
        return Text(words, text.links, text.images)
    if kind == "json" and isinstance(value, Mapping | list):
        return Text(clipped(json.dumps(value, ensure_ascii=False, sort_keys=True)))
    return text


def _module_text(value: object) -> Text:
    if not isinstance(value, ModuleDocument):
        return Text("")
    definition = modules.get(value.type)
    props = definition.Props if definition else None
    return Text("\n".join(words_of(props, {**value.props, **value.overrides})))


def _hash(*parts: object) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
