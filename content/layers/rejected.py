"""A rejected change as it is kept: what was proposed, where it stood among the modules, and who had written it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from content.changes import ABSENT, Change, Changes, Value, diff
from content.changes.values import Kind
from content.document import ModuleDocument, PostDocument
from content.layers.digest import fingerprint
from content.layers.marks import Marks, mark_of, parts_of, read_marks
from content.layers.state import LayerView
from content.models import Post, RejectedChange
from proofroom.core.json import Json, JsonObject

MAX_REJECTED_BYTES: Final = 256_000
"""Of one change; what is larger is not kept."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposal of a rejected change. `order` leads to it, `below` is the order that it was to change."""

    kind: Kind
    after: Value
    behind: str
    order: tuple[str, ...]
    below: tuple[str, ...]
    marks: Marks

    def change(self, path: str, before: Value) -> Change:
        """The change that the proposal is where `before` stands."""
        return Change(path, self.kind, before, self.after, self.behind)

    def to_json(self) -> JsonObject:
        marks: JsonObject = {path: mark.to_json() for path, mark in self.marks.items()}
        return {
            "kind": self.kind,
            "after": _packed(self.after),
            "behind": self.behind,
            "order": list(self.order),
            "below": list(self.below),
            "marks": marks,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Proposal:
        return cls(
            kind=cast(Kind, value["kind"]),
            after=_unpacked(cast(JsonObject, value["after"])),
            behind=cast(str, value["behind"]),
            order=tuple(cast("Sequence[str]", value["order"])),
            below=tuple(cast("Sequence[str]", value["below"])),
            marks=read_marks(cast("dict[str, JsonObject]", value["marks"])),
        )


def _packed(value: Value) -> JsonObject:
    if value is ABSENT:
        return {"is": "absent"}
    if isinstance(value, ModuleDocument):
        return {"is": "module", "value": value.to_json(0)}
    kind = "terms" if isinstance(value, tuple) else "plain"
    return {"is": kind, "value": cast(Json, value)}


def _unpacked(value: Mapping[str, Json]) -> Value:
    if value["is"] == "absent":
        return ABSENT
    if value["is"] == "module":
        return ModuleDocument.from_json(cast(JsonObject, value["value"]))
    if value["is"] == "terms":
        return tuple(cast("Sequence[str]", value["value"]))
    return value["value"]


def keep_rejected(
    view: LayerView, post: Post, dropped: Changes, after: PostDocument, rejection: int
) -> None:
    """Keep what was dropped, for `content.inbox.rejections`; `after` is the layer without it.

    Without one of its positions the rest of an order may be no change any more: it is kept with that.
    """
    left = set(diff(view.below, after).paths)
    named = {change.path: change for change in dropped}
    RejectedChange.objects.bulk_create(
        RejectedChange(
            post=post,
            rejection=rejection,
            layer=view.layer,
            path=change.path,
            seen=fingerprint(kept),
            proposal=_kept(view, kept),
        )
        for change in view.changes
        if change.path in named or change.path not in left
        for kept in [named.get(change.path, change)]
    )


def _kept(view: LayerView, change: Change) -> JsonObject | None:
    """None where it is too large."""
    is_placed = change.kind in ("added", "moved")
    # Who wrote it; that the layer below had moved on is kept too.
    found = parts_of(view.marks, change.path)
    mark = mark_of(view.marks, change.path)
    if mark is not None:
        found[change.path] = replace(mark, drifted=mark.drifted or change.path in view.drifted)
    proposal = Proposal(
        kind=change.kind,
        after=change.after,
        behind=change.behind,
        order=view.changes.order if is_placed else (),
        below=view.below.order if change.kind == "moved" else (),
        marks=found,
    ).to_json()
    size = len(json.dumps(proposal, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return proposal if size <= MAX_REJECTED_BYTES else None
