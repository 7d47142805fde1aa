"""Staged changes in the format of the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, get_args
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from content.comparison.change_comparison import compare_change, names_of
from content.comparison.difference_text import FindingAnswer, PieceAnswer, finding_of, piece_of
from content.comparison.references import References
from content.comparison.risk import FLAGS
from content.document.changes import ABSENT, Change, Kind, Value
from content.document.document import ModuleDocument
from content.document.labels import label_of, module_names
from content.inbox.judgement import Judgement
from content.inbox.rows import read_judgements
from content.layers import LayerView, SubmitOutcome, digest_of
from content.layers.rejected_changes import EarlierRejection, rejections_before
from content.models import Layer, Post
from content.presenters.posts import Index
from content.store.layer_state import mark_of
from proofroom.core.actor import Via
from proofroom.core.api.answer import Person, one_of
from proofroom.core.json import Json

KINDS: Final = list(get_args(Kind))
VIAS: Final = list(get_args(Via))
STAGED_LAYERS: Final = list(Layer.values)
StagedLayerText = Annotated[str, one_of(STAGED_LAYERS)]
"""A layer other than the live one."""
ViaText = Annotated[str, one_of(VIAS)]
"""The interface of a write."""


class DifferenceAnswer(TypedDict):
    """One path that differs."""

    path: Annotated[str, Field(description="Like `modules.<postModuleId>.props.title`.")]
    kind: Annotated[str, one_of(KINDS)]
    label: Annotated[str, Field(description="The path in words.")]
    before: Any
    after: Any


class EarlierRejectionAnswer(TypedDict):
    """A rejection of the same path that was not undone."""

    at: datetime
    by: Person | None
    note: str
    same: Annotated[bool, Field(description="The same words were rejected.")]


class ChangeAnswer(DifferenceAnswer):
    """One changed path of a layer, and its author."""

    by: Person | None
    agentId: str | None
    runId: str | None
    via: ViaText | None
    editedBy: str | None
    reason: Annotated[
        str | None, Field(description="What the agent or AI client says of its proposal.")
    ]
    at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None
    conflict: bool
    flags: Annotated[
        list[Annotated[str, one_of(FLAGS)]],
        Field(
            description="What a person must look at; empty only where the change is safe.",
        ),
    ]
    pieces: Annotated[list[PieceAnswer], Field(description="All that differs, in order.")]
    findings: Annotated[
        list[FindingAnswer], Field(description="What the flags of the whole change are about.")
    ]
    rejectedBefore: Annotated[
        list[EarlierRejectionAnswer],
        Field(description="What people rejected here in the last 30 days, newest first."),
    ]


class ChangesAnswer(TypedDict):
    """The changes of a layer. The digest identifies exactly these changes."""

    postId: UUID
    layer: StagedLayerText
    version: Index
    baseVersion: Index
    digest: str
    changes: list[ChangeAnswer]


class ConflictAnswer(TypedDict):
    """A path with another staged value by a person; both values stay."""

    path: str
    review: Any
    aiReview: Any


class SubmittedAnswer(TypedDict):
    """The changes moved from AI Review to Review, and the conflicts."""

    postId: UUID
    submitted: list[str]
    conflicts: list[ConflictAnswer]
    reviewVersion: Index


def layer_changes(post: Post, view: LayerView, references: References) -> ChangesAnswer:
    """Return the changes of a layer. Two queries: earlier rejections and judgements."""
    names = module_names(view.document, view.below)
    earlier = rejections_before(post, view.changes)
    judgements = read_judgements(post, view)
    return {
        "postId": post.pk,
        "layer": view.layer.value,
        "version": view.version,
        "baseVersion": post.version,
        "digest": digest_of(view.changes),
        "changes": [
            _change(
                item,
                view,
                names,
                references,
                status=post.status,
                judgement=judgements[item.path],
                earlier=earlier.get(item.path, ()),
            )
            for item in view.changes
        ],
    }


def present_submitted(done: SubmitOutcome) -> SubmittedAnswer:
    """Return the result of a submit."""
    return {
        "postId": done.post.pk,
        "submitted": list(done.submitted),
        "conflicts": [
            {
                "path": conflict.path,
                "review": value_as_json(conflict.ours),
                "aiReview": value_as_json(conflict.theirs),
            }
            for conflict in done.conflicts
        ],
        "reviewVersion": done.review_version,
    }


def _change(
    item: Change,
    view: LayerView,
    names: Mapping[str, str],
    references: References,
    *,
    status: str,
    judgement: Judgement,
    earlier: Iterable[EarlierRejection],
) -> ChangeAnswer:
    mark = mark_of(view.marks, item.path)
    is_drifted = item.path in view.drifted
    found, kind = compare_change(item, view.below, view.document, references.shared)
    comparison = found.comparison
    passages = names_of(item, comparison, kind)
    return {
        "path": item.path,
        "kind": item.kind,
        "label": label_of(item.path, view.document, names),
        "before": value_as_json(item.before),
        "after": value_as_json(item.after),
        "by": {"id": mark.user_id, "username": mark.user} if mark else None,
        "agentId": (mark.agent_id or None) if mark else None,
        "runId": (mark.run_id or None) if mark else None,
        "via": mark.via if mark else None,
        "editedBy": (mark.edited_by or None) if mark else None,
        "reason": (mark.reason or None) if mark else None,
        "at": mark.at if mark else None,
        "conflict": is_drifted or bool(mark and mark.conflict),
        "flags": list(judgement.risk(status).flags),
        "pieces": [
            piece_of(one, references, passages.get(one.passage, ""))
            for one in comparison.differences
        ],
        "findings": [finding_of(one, references) for _, one in judgement.findings.found],
        "rejectedBefore": [
            {
                "at": one.at,
                "by": None if one.by_id is None else {"id": one.by_id, "username": one.by},
                "note": one.note,
                "same": one.is_same,
            }
            for one in earlier
        ],
    }


def value_as_json(value: Value) -> Json:
    """Return a value of a change as JSON."""
    if value is ABSENT:
        return None
    if isinstance(value, ModuleDocument):
        return value.to_json(0)
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]
