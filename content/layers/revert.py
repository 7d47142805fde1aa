"""Revert live content to a revision, or remove what one agent run contributed. Later edits by people stay.

Withdrawing a run removes only its proposals, from AI Review.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from content.document.changes import Changes, apply, diff, merge
from content.document.document import PostDocument
from content.document.post_fields import SCHEDULE_FIELDS
from content.layers.live import write_live
from content.layers.reject import clear_drift_of_rejection
from content.models import Layer, Post, Provenance, Revision, Status
from content.rules import check_changes
from content.rules.place_scope import require_place_in_scope
from content.rules.references import drop_missing_references
from content.store.joint_moves import joint_moves
from content.store.layer_state import (
    Attribution,
    LayerView,
    Marks,
    event_payload,
    find_writers,
    lock_post,
    open_layers,
    paths_overlap,
    read_marks,
    save_draft,
    settle,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.taxonomies.models import Term


@dataclass(frozen=True, slots=True)
class Reverted:
    """The result of a revert.

    `reverted`: restored live paths. `kept`: paths that were changed since. `unstaged`: the run's changes removed
    from a layer.
    """

    post: Post
    reverted: tuple[str, ...]
    kept: tuple[str, ...]
    unstaged: tuple[str, ...]


@transaction.atomic
def revert_to_revision(
    *, post_id: UUID | str, revision_id: UUID | str, actor: Actor, note: str = ""
) -> Post:
    """Restore the live content of a revision. Status, drafts and translations stay unchanged.

    Raises `NotFound` for a revision of another post, `RuleViolation` if the content is no longer allowed.
    """
    actor.require_person("revert")
    actor.require("posts.revisions.manage")
    post = lock_post(post_id, actor)
    if (moves := joint_moves()) is not None:
        moves.begin(post)
    revision = post.revisions.filter(pk=revision_id).first()
    if revision is None:
        raise NotFound(
            gettext("This post has no revision %(revision_id)s.") % {"revision_id": revision_id}
        )
    live = open_layers(post).live
    target, left_out = drop_unavailable(post, live, PostDocument.from_json(revision.document))
    # References inside text are restored even if they are missing, see `taken_over`.
    require_place_in_scope(post=post, before=live, after=target, actor=actor)
    target = check_changes(post=post, before=live, after=target, actor=actor, taken_over=target)
    if left_out:
        note = f"{note} (left out: {', '.join(left_out)})".strip()
    if write_live(post=post, before=live, after=target, actor=actor, reason="reverted", note=note):
        settle(post, target)
    return post


def drop_unavailable(
    post: Post, live: PostDocument, target: PostDocument
) -> tuple[PostDocument, list[str]]:
    """Return `target` without values that cannot be restored, and their names."""
    gone: JsonObject = {}
    fields = target.fields
    # Only a draft can be scheduled, an archived post does not expire, and both need a time in the future.
    is_possible = {
        "publishAt": post.status == Status.DRAFT,
        "unpublishAt": post.status != Status.ARCHIVED,
    }
    now = timezone.now()
    if any(
        (due := fields.get(name)) is not None
        and (not is_possible[name] or (parse_datetime(str(due)) or now) <= now)
        for name in SCHEDULE_FIELDS
    ):
        # Together, because the time of one revision may not fit that of another.
        gone |= {name: live.fields.get(name) for name in SCHEDULE_FIELDS}
    parent = fields.get("parentId")
    if parent and not Post.objects.alive().filter(pk=str(parent)).exists():
        gone["parentId"] = None
    terms = Term.objects.filter(pk__in=target.taxonomy_term_ids).values_list("pk", flat=True)
    ids = sorted(str(id_) for id_ in terms)
    changed = [name for name, value in gone.items() if fields.get(name) != value]
    left_out = [
        *changed,
        *(["taxonomyTermIds"] if len(ids) < len(target.taxonomy_term_ids) else []),
    ]
    target = target.with_fields(gone).with_terms(ids)
    target, missing = drop_missing_references(live, target, diff(live, target))
    return target, [*left_out, *missing]


@transaction.atomic
def revert_run(*, post_id: UUID | str, run_id: str, actor: Actor) -> Reverted:
    """Undo all changes of one agent run to a post, live and staged."""
    actor.require_person("revert")
    actor.require("posts.revisions.manage")
    post = lock_post(post_id, actor)
    live = open_layers(post).live
    written = _paths_of_run(post, run_id)
    own_paths: dict[UUID, set[str]] = {}
    for revision_id, path, is_shared in written:
        if not is_shared:
            own_paths.setdefault(revision_id, set()).add(path)
    target, kept = live, sorted({path for _, path, is_shared in written if is_shared})
    # Newest first: when a revision is undone, the run's later revisions must already be undone.
    for revision in Revision.objects.filter(pk__in=own_paths).order_by("-version"):
        target, left = _undo_revision(post, target, revision, own_paths[revision.pk])
        kept += left
    target, missing = drop_missing_references(live, target, diff(live, target))
    require_place_in_scope(post=post, before=live, after=target, actor=actor)
    target = check_changes(post=post, before=live, after=target, actor=actor, taken_over=target)
    reverted = diff(live, target).paths
    note = f"run {run_id}" + (f" (left out: {', '.join(missing)})" if missing else "")
    if write_live(post=post, before=live, after=target, actor=actor, reason="reverted", note=note):
        settle(post, target)
    dropped: list[str] = []
    for layer in (Layer.REVIEW, Layer.AI_REVIEW):
        # Read again in each round: the write of Review changes the view of AI Review.
        view = open_layers(post).view(layer)
        writers = {path: find_writers(view.marks, path) for path in view.changes.paths}
        own = [
            path
            for path, marks in writers.items()
            if marks and all(is_of_run(mark, run_id) for mark in marks)
        ]
        if own:
            rest = view.changes.only([path for path in view.changes.paths if path not in own])
            save_draft(view, post, apply(view.below, rest), view.marks, actor.user.pk)
            clear_drift_of_rejection(view, post, own)
            dropped += [path for path in view.changes.paths if path in own]
    unstaged = tuple(dict.fromkeys(dropped))
    if not reverted and not unstaged and not kept:
        raise RuleViolation(
            gettext("The run %(run_id)s has made no changes here.") % {"run_id": run_id},
            code="nothing_to_revert",
        )
    return Reverted(post, reverted, tuple(kept), unstaged)


def _paths_of_run(post: Post, run_id: str) -> list[tuple[UUID, str, bool]]:
    """Return (revision, path, whether another author is involved) for each path of the run."""
    own = Provenance.objects.filter(post=post, run_id=run_id)
    rows = list(
        Provenance.objects.filter(post=post, revision__in=own.values("revision")).values_list(
            "revision_id", "path", "run_id", "edited_by_name"
        )
    )
    # Paths written or edited by another author.
    others = [
        (revision_id, path)
        for revision_id, path, by_run, edited_by in rows
        if by_run != run_id or edited_by != ""
    ]
    return [
        (
            revision_id,
            path,
            any(revision == revision_id and _is_within(at, [path]) for revision, at in others),
        )
        for revision_id, path, by_run, _ in rows
        if by_run == run_id
    ]


def _undo_revision(
    post: Post, live: PostDocument, revision: Revision, paths: set[str]
) -> tuple[PostDocument, list[str]]:
    """Return `live` without the changes of the revision at `paths`, and the paths that were changed since."""
    earlier = post.revisions.filter(version__lt=revision.version).order_by("-version").first()
    if earlier is None:
        return live, sorted(paths)
    after = PostDocument.from_json(revision.document)
    before = PostDocument.from_json(earlier.document)
    back: Changes = diff(after, before).only(paths)
    # A three-way merge: later edits win and are reported as conflicts.
    merged = merge(after, live, apply(after, back))
    return merged.document, [conflict.path for conflict in merged.conflicts]


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier state of a layer: its document, the document below and the marks."""

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
        """Return the same proposals on top of the current layer below."""
        return merge(self.below, below, self.document, prefer="theirs").document


def is_of_run(mark: Attribution, run_id: str) -> bool:
    """Return whether the run wrote the value and no person edited it since."""
    return mark.run_id == run_id and not mark.edited_by


@transaction.atomic
def withdraw_run(
    *,
    post_id: UUID | str,
    run_id: str,
    actor: Actor,
    before: Before | None = None,
    paths: Collection[str] = (),
) -> tuple[str, ...]:
    """Remove the staged changes of a run from AI Review. Changes by others stay, including later edits.

    `before`: state of the layer before the run's first write. `paths`: all paths the run wrote; overwritten
    proposals are staged again. Returns the removed paths.
    """
    post = lock_post(post_id, actor)
    view = open_layers(post).ai_review
    target = view.below if before is None else before.on(view.below)
    back = diff(view.document, target)
    removed = [path for path in back.paths if _is_by_run_only(view.marks, path, run_id, paths)]
    if not removed:
        return ()
    document = apply(view.document, back.only(removed))
    # Marks of the remaining changes, and of restored ones.
    marks = {path: mark for path, mark in view.marks.items() if not _is_within(path, removed)}
    if before is not None:
        marks |= {path: mark for path, mark in before.marks.items() if _is_within(path, removed)}
    save_draft(view, post, document, marks, actor.user.pk)
    payload = {**event_payload(post), "layer": Layer.AI_REVIEW.value, "paths": list(removed)}
    outbox.record("post.ai-review.withdraw", actor=actor, post_id=post.pk, payload=payload)
    return tuple(removed)


def _is_by_run_only(marks: Marks, path: str, run_id: str, written: Collection[str]) -> bool:
    """Return whether only the run wrote the value at a path, or removed the proposal there."""
    writers = find_writers(marks, path)
    if writers:
        return all(is_of_run(mark, run_id) for mark in writers)
    return any(paths_overlap(path, other) for other in written)


def _is_within(path: str, parents: Collection[str]) -> bool:
    return any(path == other or path.startswith(other + ".") for other in parents)
