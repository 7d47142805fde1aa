"""A reviewer's decisions, taken together or not at all.

With the button Submit (AI Review) or Approve (Review), what is marked accept is taken and what is marked reject is
rejected; what is left stays staged. With the button Reject, what is marked reject is rejected, and nothing is taken.
The one note says why: of the rejection where something is rejected, else of what is taken. A rejected path may have a
note of its own; each note is then a rejection of its own, kept and shown with just what it speaks of. Everything is
judged against the digest of what the reviewer saw: if anything marked has moved since, `Conflict` (`stale_review`) is
raised and nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.layers.approve import approve
from content.layers.digest import read_digest, was_seen
from content.layers.reject import reject
from content.layers.selection import kept_without
from content.layers.state import NOTE_MAX, LayerView, lock_post, open_layers
from content.layers.submit import submit
from content.models import Layer
from content.review.differences import base_path
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid


def clean_note(text: str) -> str:
    """The note without what surrounds it. Raises `RuleViolation` on `note` for what no note can be."""
    note = text.strip()
    if len(note) > NOTE_MAX:
        raise invalid("note", _("A note has at most %(most)s characters.") % {"most": NOTE_MAX})
    if any(ord(letter) == 0 or 0xD800 <= ord(letter) <= 0xDFFF for letter in note):
        raise invalid("note", _("The note holds a character that no text can hold."))
    return note


@dataclass(frozen=True, slots=True)
class LayerOutcome:
    """`conflicts` are paths that stayed in AI Review, because a person had staged another value in Review.

    `rejections` are the ids by which what was rejected can be taken back.
    """

    taken: tuple[str, ...]
    rejected: tuple[str, ...]
    conflicts: tuple[str, ...]
    rejections: tuple[int, ...] = ()


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
) -> LayerOutcome:
    """Take `accept` out of the layer into the one below it, and drop `refuse`, in one transaction.

    `notes` are those of single paths of `refuse`; the others have `note`. What the passages are is settled before
    anything is written: what is neither accepted nor refused stays staged.
    """
    view = open_layers(lock_post(post_id)).view(layer)
    require_seen(view, digest, [*accept, *refuse])
    kept = kept_without(view, refuse)
    taken: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    of_taken = "" if refuse else note
    if accept and layer == Layer.REVIEW:
        approve(post_id=post_id, actor=actor, digest=digest, paths=accept, note=of_taken)
        taken = tuple(accept)
    elif accept:
        submitted = submit(post_id=post_id, actor=actor, paths=accept, note=of_taken)
        taken = submitted.submitted
        conflicts = tuple(conflict.path for conflict in submitted.conflicts)
    rejections: list[int] = []
    # The passages of one path have one note.
    noted: dict[str, str] = {}
    for path in refuse:
        noted.setdefault(base_path(path), (notes or {}).get(path) or note)
    by_note: dict[str, list[str]] = {}
    for path, why in noted.items():
        by_note.setdefault(why, []).append(path)
    for why, paths in by_note.items():
        # Taking can settle what was to be refused: a module's place among the others, for one.
        left = set(open_layers(lock_post(post_id)).view(layer).changes.paths)
        remaining = [path for path in paths if path in left]
        if remaining:
            done = reject(
                post_id=post_id, layer=layer, actor=actor, paths=remaining, note=why, kept=kept
            )
            rejections.append(done.rejection)
    return LayerOutcome(taken, tuple(refuse), conflicts, tuple(rejections))


def require_seen(view: LayerView, digest: str, paths: Collection[str]) -> None:
    """Raise `Conflict` naming those of the paths that are no longer what the digest saw."""
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
                "Something moved since you opened this review. Nothing was changed; look again and "
                "decide."
            ),
            code="stale_review",
            details={path: ["changed since you saw it"] for path in moved},
        )
