"""Revert: live content back to a revision, or without what one agent run contributed. Later human edits stay."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from content.changes import Changes, apply, diff, merge
from content.document import PostDocument
from content.layers.live import write_live
from content.layers.state import LayerView, lock_post, open_layers, save_draft
from content.models import Layer, Post, Provenance, Revision
from content.rules import check_changes
from core.actor import Actor
from core.errors import NotFound, RuleViolation


@dataclass(frozen=True, slots=True)
class Reverted:
    """`reverted` are paths of live content taken back, `kept` those that somebody changed since,
    `unstaged` what the run still had waiting in a layer."""

    post: Post
    reverted: tuple[str, ...]
    kept: tuple[str, ...]
    unstaged: tuple[str, ...]


@transaction.atomic
def revert_to_revision(
    *, post_id: UUID | str, revision_id: UUID | str, actor: Actor, note: str = ""
) -> Post:
    """Make the live content what a revision holds. Status, drafts and translations are left alone.

    Raises `NotFound` for a revision of another post, `RuleViolation` where what it holds is no longer allowed.
    """
    actor.require_person("revert")
    actor.require("posts.revisions.manage")
    post = lock_post(post_id)
    revision = post.revisions.filter(pk=revision_id).first()
    if revision is None:
        raise NotFound(f"This post has no revision {revision_id}.")
    live = open_layers(post).live
    target = check_changes(
        post=post, before=live, after=PostDocument.from_json(revision.document), actor=actor
    )
    write_live(post=post, before=live, after=target, actor=actor, reason="reverted", note=note)
    return post


@transaction.atomic
def revert_run(*, post_id: UUID | str, run_id: str, actor: Actor) -> Reverted:
    """Undo everything that one agent run brought to a post: what is live, and what still waits in a layer."""
    actor.require_person("revert")
    actor.require("posts.revisions.manage")
    post = lock_post(post_id)
    live = open_layers(post).live
    target, kept = live, _edited_since(post, run_id)
    for revision, paths in _contributions(post, run_id):
        target, left = _without(post, target, revision, paths)
        kept += left
    target = check_changes(post=post, before=live, after=target, actor=actor)
    reverted = diff(live, target).paths
    write_live(
        post=post, before=live, after=target, actor=actor, reason="reverted", note=f"run {run_id}"
    )
    unstaged = _unstage(post, run_id, actor)
    if not reverted and not unstaged and not kept:
        raise RuleViolation(
            f"The run {run_id} has contributed nothing here.", code="nothing_to_revert"
        )
    return Reverted(post, reverted, tuple(kept), unstaged)


def _edited_since(post: Post, run_id: str) -> list[str]:
    """What a person changed of the run's words before they went live: it is that person's work too."""
    rows = Provenance.objects.filter(post=post, run_id=run_id).exclude(edited_by_name="")
    return sorted(set(rows.values_list("path", flat=True)))


def _contributions(post: Post, run_id: str) -> list[tuple[Revision, set[str]]]:
    """The revisions that brought words of the run live, newest first, with its paths in each."""
    paths: dict[UUID, set[str]] = {}
    rows = Provenance.objects.filter(post=post, run_id=run_id, edited_by_name="")
    for revision_id, path in rows.values_list("revision_id", "path"):
        paths.setdefault(revision_id, set()).add(path)
    found = Revision.objects.filter(pk__in=paths).order_by("-version")
    return [(revision, paths[revision.pk]) for revision in found]


def _without(
    post: Post, live: PostDocument, revision: Revision, paths: set[str]
) -> tuple[PostDocument, list[str]]:
    """`live` without what the revision changed at `paths`, save where it was changed since."""
    earlier = post.revisions.filter(version__lt=revision.version).order_by("-version").first()
    if earlier is None:
        return live, sorted(paths)
    after = PostDocument.from_json(revision.document)
    before = PostDocument.from_json(earlier.document)
    back: Changes = diff(after, before).only(paths)
    merged = merge(after, live, apply(after, back))
    return merged.document, [conflict.path for conflict in merged.conflicts]


def _unstage(post: Post, run_id: str, actor: Actor) -> tuple[str, ...]:
    dropped: list[str] = []
    for layer in (Layer.REVIEW, Layer.AI_REVIEW):
        view = open_layers(post).view(layer)
        own = [
            path
            for path, mark in view.marks.items()
            if mark.run_id == run_id and not mark.edited_by
        ]
        if own:
            dropped += _drop(view, post, own, actor)
    return tuple(dict.fromkeys(dropped))


def _drop(view: LayerView, post: Post, paths: Collection[str], actor: Actor) -> list[str]:
    rest = view.changes.only([path for path in view.changes.paths if path not in paths])
    save_draft(view, post, apply(view.below, rest), view.marks, actor.user.pk)
    return [path for path in view.changes.paths if path in paths]
