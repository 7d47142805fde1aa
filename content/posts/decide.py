"""Apply a reviewer's decisions together or not at all.

With Submit (AI Review) or Approve (Review), accepted paths are moved on, rejected paths are rejected, and all
others stay staged. With Reject, rejected paths are rejected and nothing is accepted. The note belongs to the
rejection if there is one, else to the acceptance. A rejected path can have its own note; each different note
becomes a separate rejection. The digest of what the reviewer saw is compared first: if a marked change differs
by now, `Conflict` (`stale_review`) is raised and nothing is written.

Users who may submit, approve and publish can do all three with `publishes`: accepted changes go live, and a
draft is published.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.differences import base_path
from content.layers.approve import approve
from content.layers.reject import reject
from content.layers.selection import remaining_values
from content.layers.submit import submit
from content.models import Layer, Post, Status
from content.posts.publish import move_status
from content.store.digest import digest_of, read_digest, was_seen
from content.store.layer_state import (
    NOTE_MAX,
    Layers,
    LayerView,
    lock_post,
    open_layers,
    paths_overlap,
)
from content.store.publish_permissions import APPROVE_AND_PUBLISH
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid


def clean_note(text: str) -> str:
    """Return the note without surrounding whitespace.

    Raises `RuleViolation` on `note` if it is too long or has invalid characters.
    """
    note = text.strip()
    if len(note) > NOTE_MAX:
        raise invalid(
            "note", _("A note can have at most %(most)s characters.") % {"most": NOTE_MAX}
        )
    # PostgreSQL's text type doesn't store NUL, and lone surrogates can't be encoded as UTF-8.
    if any(ord(letter) == 0 or 0xD800 <= ord(letter) <= 0xDFFF for letter in note):
        raise invalid("note", _("The note contains an invalid character."))
    return note


@dataclass(frozen=True, slots=True)
class LayerOutcome:
    """The result of a decision.

    `conflicts`: paths that stayed in AI Review because Review holds another value. `rejections`: ids for
    undoing the rejections. `is_live`: visitors now see the accepted changes. `is_published`: a draft was
    published.
    """

    taken: tuple[str, ...]
    rejected: tuple[str, ...]
    conflicts: tuple[str, ...]
    rejections: tuple[int, ...] = ()
    is_live: bool = False
    is_published: bool = False


@dataclass(frozen=True, slots=True)
class PostSeen:
    """The state of the post when the reviewer loaded the changes. It determines what a decision makes live."""

    is_published: bool
    version: int


@transaction.atomic
def decide(
    *,
    post_id: UUID,
    layer: Layer,
    actor: Actor,
    digest: str,
    accept: Collection[str],
    refuse: Collection[str],
    note: str = "",
    notes: Mapping[str, str] | None = None,
    publishes: bool = False,
    post_seen: PostSeen | None = None,
) -> LayerOutcome:
    """Move `accept` from the layer to the next one and reject `refuse`, in one transaction.

    `notes` holds notes for single paths of `refuse`; the other paths get `note`. Passages are resolved before
    anything is written. With `publishes`, accepted paths go live from either layer, and a draft is published;
    raises `Conflict` (`review_waiting`) if Review holds another change at an accepted path. With `post_seen`,
    raises `Conflict` (`post_changed`) if the post changed so that other content than the reviewer saw would go
    live.
    """
    if publishes:
        actor.require_session("approve and publish")
        for permission in APPROVE_AND_PUBLISH[layer]:
            actor.require(permission)
    layers = open_layers(lock_post(post_id, actor))
    view = layers.view(layer)
    require_seen(view, digest, [*accept, *refuse])
    if post_seen is not None and accept and (publishes or layer == Layer.REVIEW):
        _require_post_seen(layers.post, post_seen, publishes=publishes)
    # Before anything is accepted: accepting changes the text in which the refused passages are located.
    retained = remaining_values(view, refuse)
    accepted: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    accept_note = "" if refuse else note
    post = layers.post
    if accept and layer == Layer.REVIEW:
        post, _revision = approve(
            post_id=post_id, actor=actor, digest=digest, paths=accept, note=accept_note
        )
        accepted = tuple(accept)
    elif accept and publishes:
        post = _submit_and_approve(layers, accept, actor, accept_note)
        accepted = tuple(accept)
    elif accept:
        submitted = submit(post_id=post_id, actor=actor, paths=accept, note=accept_note)
        accepted = submitted.submitted
        conflicts = tuple(conflict.path for conflict in submitted.conflicts)
    is_published = publishes and bool(accepted) and post.status != Status.PUBLISHED
    if is_published:
        move_status(post=post, status=Status.PUBLISHED, actor=actor)
    rejections: list[int] = []
    # One note per path: the passages of a path are rejected together.
    notes_by_path: dict[str, str] = {}
    for path in refuse:
        notes_by_path.setdefault(base_path(path), (notes or {}).get(path) or note)
    paths_by_note: dict[str, list[str]] = {}
    for path, why in notes_by_path.items():
        paths_by_note.setdefault(why, []).append(path)
    for why, paths in paths_by_note.items():
        # Accepting can also resolve a refused path, for example a module's position.
        current_paths = set(open_layers(lock_post(post_id, actor)).view(layer).changes.paths)
        remaining = [path for path in paths if path in current_paths]
        if remaining:
            done = reject(
                post_id=post_id, layer=layer, actor=actor, paths=remaining, note=why, kept=retained
            )
            rejections.append(done.rejection)
    is_live = bool(accepted) and post.status == Status.PUBLISHED
    return LayerOutcome(
        accepted,
        tuple(refuse),
        conflicts,
        tuple(rejections),
        is_live=is_live and (publishes or layer == Layer.REVIEW),
        is_published=is_published,
    )


def paths_waiting_in_review(layers: Layers, paths: Collection[str]) -> list[str]:
    """Return the given AI Review paths where Review also holds a change. They can't go live past it."""
    below = layers.review.changes.paths
    named = dict.fromkeys(map(base_path, paths))
    return [path for path in named if any(paths_overlap(path, other) for other in below)]


def _submit_and_approve(layers: Layers, paths: Collection[str], actor: Actor, note: str) -> Post:
    """Make these AI Review paths live, without any change that was already in Review."""
    waiting_paths = paths_waiting_in_review(layers, paths)
    if waiting_paths:
        raise Conflict(
            _(
                "Other changes to the same fields are waiting in Review. Nothing was published. "
                "Decide on those first, or submit these to Review."
            ),
            code="review_waiting",
            details={
                path: [_("Another change to this is already waiting in Review.")]
                for path in waiting_paths
            },
        )
    post_id, before = layers.post.pk, set(layers.review.changes.paths)
    done = submit(post_id=post_id, actor=actor, paths=paths, note=note)
    review = open_layers(lock_post(post_id, actor)).review.changes
    # Submitting can add paths that were not named, such as a module's position, but must not approve what
    # Review held before.
    arrived = [path for path in review.paths if path in done.submitted or path not in before]
    post, _revision = approve(
        post_id=post_id, actor=actor, digest=digest_of(review), paths=arrived, note=note
    )
    return post


def _require_post_seen(post: Post, seen: PostSeen, *, publishes: bool) -> None:
    """Raise `Conflict` if other content than the reviewer saw would go live."""
    if (post.status == Status.PUBLISHED) != seen.is_published:
        message = (
            _("This post is no longer published. Nothing was applied. Check again and decide.")
            if seen.is_published
            else _(
                "This post was published since you opened this review. Nothing was applied. Check again and decide."
            )
        )
    # Publishing a draft makes all of it live, so the whole version must match. For a published post only the
    # accepted paths go live.
    elif publishes and not seen.is_published and post.version != seen.version:
        message = _(
            "This draft was changed since you opened this review. Nothing was published. Check "
            "what goes live and decide again."
        )
    else:
        return
    raise Conflict(message, code="post_changed", current=post.version)


def require_seen(view: LayerView, digest: str, paths: Collection[str]) -> None:
    """Raise `Conflict` naming the paths that changed since the digest was made."""
    seen = read_digest(digest)
    changes = {change.path: change for change in view.changes}
    moved = [
        path
        for path in dict.fromkeys(map(base_path, paths))
        if path not in changes or not was_seen(seen, changes[path])
    ]
    if moved:
        raise Conflict(
            _(
                "Something changed since you opened this review. Nothing was "
                "applied. Check again and decide."
            ),
            code="stale_review",
            details={path: ["changed since you saw it"] for path in moved},
        )
