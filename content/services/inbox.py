"""Decisions on changes of several posts: each post is its own transaction, and what moved since is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.utils.translation import gettext

from content.layers import LayerView, digest_of, open_layers
from content.layers.decide import decide
from content.layers.digest import fingerprint
from content.models import Layer, Post, QueuedChange
from core.actor import Actor
from core.errors import CmsError, NotAllowed, invalid

MOST: Final = 40
Word = Literal["accept", "reject"]


@dataclass(frozen=True, slots=True)
class Marked:
    """A decision on a row of the queue; `seen` is the change as the reviewer saw it."""

    id: int
    seen: str
    word: Word


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one layer of one post. `left` are the paths that stay, `why` says it where they were refused."""

    post: Post
    layer: Layer
    taken: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """`gone` is how many of the changes do not wait any more."""

    decisions: tuple[Decision, ...]
    gone: int

    def count(self, layer: Layer) -> int:
        """How many changes were taken out of a layer into the one below."""
        return sum(len(one.taken) for one in self.decisions if one.layer == layer)

    @property
    def rejected(self) -> int:
        return sum(len(one.rejected) for one in self.decisions)

    @property
    def left(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.decisions if one.left)


def decide_queued(*, marks: Sequence[Marked], actor: Actor, note: str = "") -> Decided:
    """Take what is marked accept into the layer below, which is live for Review, and drop what is marked reject.

    What moved since it was seen stays, and is said. Raises `RuleViolation` on `marks` for none or too many,
    `NotAllowed` where the actor may not.
    """
    actor.require_person("decide on what waits")
    if not 1 <= len(marks) <= MOST:
        raise invalid(
            "marks", gettext("Decide on 1 to %(most)s changes at a time.") % {"most": MOST}
        )
    words = {mark.id: mark for mark in marks}
    rows = QueuedChange.objects.filter(pk__in=words, post__deleted_at__isnull=True)
    groups: dict[tuple[UUID, str], list[QueuedChange]] = {}
    for row in rows.order_by("post_id", "layer", "pk"):
        groups.setdefault((row.post_id, row.layer), []).append(row)
    _require(actor, groups, words)
    posts = Post.objects.in_bulk([post_id for post_id, _ in groups])
    decisions = tuple(
        _decided(posts[post_id], Layer(layer), of, words, actor, note)
        for (post_id, layer), of in groups.items()
    )
    return Decided(decisions, len(words) - sum(map(len, groups.values())))


def _require(
    actor: Actor,
    groups: Mapping[tuple[UUID, str], Sequence[QueuedChange]],
    words: Mapping[int, Marked],
) -> None:
    """Before the first post is written: who may not decide on all of it decides on none."""
    for (_, layer), rows in groups.items():
        for row in rows:
            is_submit = words[row.pk].word == "accept" and layer == Layer.AI_REVIEW
            actor.require("posts.ai-review.approve" if is_submit else "posts.review.approve")


def _decided(
    post: Post,
    layer: Layer,
    rows: Sequence[QueuedChange],
    words: Mapping[int, Marked],
    actor: Actor,
    note: str,
) -> Decision:
    view = open_layers(post).view(layer)
    seen = {row.path: words[row.pk] for row in rows}
    present = _as_seen(view, seen)
    accept, refuse = _paths(present, seen, "accept"), _paths(present, seen, "reject")
    moved = tuple(path for path in seen if path not in present)
    if not present:
        return Decision(post, layer, left=moved)
    try:
        done = decide(
            post_id=post.pk,
            layer=layer,
            actor=actor,
            digest=digest_of(view.changes.only(present)),
            accept=accept,
            refuse=refuse,
            note=note,
        )
    except NotAllowed:
        raise
    except CmsError as error:
        return Decision(post, layer, left=tuple(seen), why=error.message)
    return Decision(post, layer, done.taken, done.rejected, moved + done.conflicts)


def _as_seen(view: LayerView, seen: Mapping[str, Marked]) -> list[str]:
    """The paths whose change is still the one that was seen."""
    return [
        change.path
        for change in view.changes
        if change.path in seen and fingerprint(change) == seen[change.path].seen
    ]


def _paths(present: Iterable[str], seen: Mapping[str, Marked], word: Word) -> list[str]:
    return [path for path in present if seen[path].word == word]
