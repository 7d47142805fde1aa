"""What people rejected before where a run is to propose something, for its payload."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from agents_app.models import AgentRun
from agents_app.running.fields import FieldTarget
from content.document import ModuleDocument, PostDocument
from content.layers.earlier_rejections import EarlierRejection, earlier_rejections
from content.models import Post
from content.presenters import plain
from content.store import iso
from core.json import Json, JsonObject

KEY: Final = "rejectedBefore"
"""The key of the payload's context. What a caller sends under it is dropped: the system says it."""
_MOST_OF_A_FIELD: Final = 5
_MOST_OF_A_POST: Final = 20
_LONGEST: Final = 4_000
"""Of a value as JSON, in the payload of a field; a longer one is left out, its note is not."""
_LONGEST_OF_A_POST: Final = 400
"""Of a text, in the payload of a whole post."""


def with_rejections(
    payload: JsonObject,
    post: Post | None,
    document: PostDocument | None,
    target: FieldTarget | None,
) -> JsonObject:
    """The payload with what was rejected on the field, or anywhere in the post, the newest first. Two queries."""
    context = payload.get("context")
    own = (
        {name: value for name, value in context.items() if name != KEY}
        if isinstance(context, dict)
        else {}
    )
    if post is not None and document is not None:
        rejected = _of_field(post, document, target) if target else _of_post(post)
        if rejected:
            own[KEY] = rejected
    return {**payload, "context": own}


def _of_field(post: Post, document: PostDocument, target: FieldTarget) -> list[Json]:
    path = target.document_path(document)
    found = earlier_rejections([post.pk], [path]).latest()[:_MOST_OF_A_FIELD]
    unvouched = _of_runs_that_read_visitors(found)
    told: list[Json] = []
    for one in found:
        wire: JsonObject = {"at": iso(one.at), "by": one.by, "note": one.note}
        if not _is_unvouched(one, unvouched) and not isinstance(one.value, ModuleDocument):
            value = target.part_of(plain(one.value))
            if value is not None and len(json.dumps(value)) <= _LONGEST:
                wire["value"] = value
        told.append(wire)
    return told


def _of_post(post: Post) -> list[Json]:
    found = earlier_rejections([post.pk]).latest()[:_MOST_OF_A_POST]
    unvouched = _of_runs_that_read_visitors(found)
    told: list[Json] = []
    for one in found:
        wire: JsonObject = {"path": one.path, "at": iso(one.at), "by": one.by, "note": one.note}
        value = one.value if isinstance(one.value, str) else ""
        if 0 < len(value) <= _LONGEST_OF_A_POST and not _is_unvouched(one, unvouched):
            wire["value"] = value
        told.append(wire)
    return told


def _of_runs_that_read_visitors(found: Sequence[EarlierRejection]) -> set[str]:
    """The runs among the writers that had read words of visitors: what they wrote is told to no other run."""
    runs = {id_ for one in found for id_ in _runs(one)}
    if not runs:
        return set()
    rows = AgentRun.objects.filter(pk__in=runs, has_read_untrusted=True)
    return {str(pk) for pk in rows.values_list("pk", flat=True)}


def _is_unvouched(one: EarlierRejection, runs: Collection[str]) -> bool:
    return any(id_ in runs for id_ in _runs(one))


def _runs(one: EarlierRejection) -> set[str]:
    marks = one.proposal.marks.values() if one.proposal is not None else ()
    return {mark.run_id for mark in marks if _is_uuid(mark.run_id)}


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
