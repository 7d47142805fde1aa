"""Take back: what one run proposed goes out of AI Review again, and what it wrote over comes back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.db import transaction

from content.changes import apply, diff, merge
from content.document import PostDocument
from content.layers.live import event_payload
from content.layers.marks import Mark, Marks, read_marks, writers_of
from content.layers.state import LayerView, lock_post, open_layers, save_draft
from content.models import Layer
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier state of a layer: its document on top of the one below, and who had written it."""

    below: PostDocument
    document: PostDocument
    marks: Marks

    @classmethod
    def of(cls, view: LayerView) -> Before:
        return cls(view.below, view.document, view.marks)

    def to_json(self) -> JsonObject:
        marks: JsonObject = {path: mark.to_json() for path, mark in self.marks.items()}
        return {"below": self.below.to_json(), "document": self.document.to_json(), "marks": marks}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Before:
        below, document, marks = (
            cast("JsonObject", value[name]) for name in ("below", "document", "marks")
        )
        return cls(
            PostDocument.from_json(below),
            PostDocument.from_json(document),
            read_marks(cast("dict[str, JsonObject]", marks)),
        )

    def on(self, below: PostDocument) -> PostDocument:
        """The same proposals on top of what the layer below holds now."""
        return merge(self.below, below, self.document, prefer="theirs").document


def is_of_run(mark: Mark, run_id: str) -> bool:
    """Return whether the words are the run's, and nobody changed them since."""
    return mark.run_id == run_id and not mark.edited_by


@transaction.atomic
def take_back_run(
    *,
    post_id: UUID | str,
    run_id: str,
    actor: Actor,
    before: Before | None = None,
    paths: Collection[str] = (),
) -> tuple[str, ...]:
    """Take out of AI Review what the run staged; what others staged or changed since stays.

    `before` is what the layer held before the run's first write, `paths` all that it wrote: what it wrote over is
    staged again as it was. Answers the paths that were taken back.
    """
    post = lock_post(post_id)
    view = open_layers(post).ai_review
    target = view.below if before is None else before.on(view.below)
    back = diff(view.document, target)
    taken = [path for path in back.paths if _is_runs(view.marks, path, run_id, paths)]
    if not taken:
        return ()
    document = apply(view.document, back.only(taken))
    # The marks of what stays, and of what comes back.
    marks = {path: mark for path, mark in view.marks.items() if not _within(path, taken)}
    if before is not None:
        marks |= {path: mark for path, mark in before.marks.items() if _within(path, taken)}
    save_draft(view, post, document, marks, actor.user.pk)
    payload = {**event_payload(post), "layer": Layer.AI_REVIEW.value, "paths": list(taken)}
    outbox.record("post.ai-review.withdraw", actor=actor, post_id=post.pk, payload=payload)
    return tuple(taken)


def _is_runs(marks: Marks, path: str, run_id: str, written: Collection[str]) -> bool:
    """Whether only the run has a hand in what stands at a path, or in that nothing is staged there any more."""
    hands = writers_of(marks, path)
    if hands:
        return all(is_of_run(mark, run_id) for mark in hands)
    return any(_touch(path, other) for other in written)


def _within(path: str, taken: Collection[str]) -> bool:
    return any(path == other or path.startswith(other + ".") for other in taken)


def _touch(one: str, other: str) -> bool:
    return one == other or one.startswith(other + ".") or other.startswith(one + ".")
