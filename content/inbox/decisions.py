"""Decisions on changes of several posts: each post is its own transaction, and what moved since is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from content.inbox.queries import queue
from content.layers import digest_of, open_layers
from content.models import Layer, Post, QueuedChange, Status
from content.posts.decide import clean_note, decide
from content.store.digest import fingerprint
from content.store.layer_state import lock_post
from content.store.publish_permissions import APPROVE_AND_PUBLISH
from proofroom.core.actor import Actor
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import CmsError, NotAllowed, NotFound, invalid

MAX_DECISIONS: Final = 40
Word = Literal["accept", "reject", "publish"]
"""`publish` brings a change of AI Review live at once; a post that is a draft is left as it is."""
Grouped = dict[tuple[UUID, str], list[QueuedChange]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A decision on a row of the queue; `seen` is the change as the reviewer saw it."""

    id: int
    seen: str
    word: Word


@dataclass(frozen=True, slots=True)
class Decision:
    """The result for one layer of one post, by path. What `is_approved` is content of the post now, not in Review;
    what `is_live` visitors see, too.

    `gone` did not wait any more, `moved` is not what was seen, `held` stays because a person staged something else
    in Review, and `refused` stays for the reason that `why` says. By the ids of `rejections` what was rejected can
    be taken back.
    """

    post: Post
    layer: Layer
    taken: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    why: str = ""
    rejections: tuple[int, ...] = ()
    is_approved: bool = False
    is_live: bool = False

    @property
    def left(self) -> tuple[str, ...]:
        return self.moved + self.held + self.refused


@dataclass(frozen=True, slots=True)
class InboxOutcome:
    """`gone` is how many of the changes do not wait any more."""

    decisions: tuple[Decision, ...]
    gone: int

    @property
    def submitted(self) -> int:
        """How many changes went from AI Review into Review."""
        return sum(len(one.taken) for one in self.decisions) - self.approved

    @property
    def approved(self) -> int:
        """How many changes were approved, of posts of every status."""
        return sum(len(one.taken) for one in self.decisions if one.is_approved)

    @property
    def live(self) -> int:
        """How many of the approved visitors see now."""
        return sum(len(one.taken) for one in self.decisions if one.is_live)

    @property
    def rejected(self) -> int:
        return sum(len(one.rejected) for one in self.decisions)

    @property
    def left(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.decisions if one.left)


def decide_queued(*, marks: Sequence[Marked], actor: Actor, note: str = "") -> InboxOutcome:
    """Take what is marked accept into the layer below, which is live for Review, and drop what is marked reject.

    What moved since it was seen stays, and is said. Raises `RuleViolation` on `marks` for none or too many,
    `NotAllowed` where the actor may not.
    """
    actor.require_person("decide on what waits")
    if not 1 <= len(marks) <= MAX_DECISIONS:
        raise invalid(
            "marks", gettext("Decide on 1 to %(most)s changes at once.") % {"most": MAX_DECISIONS}
        )
    words = clean_note(note)
    groups = find_waiting_rows(marks, actor)
    by_id = {mark.id: mark for mark in marks}
    require_all(actor, groups, by_id)
    posts = Post.objects.in_bulk([post_id for post_id, _ in groups])
    decisions = tuple(
        decide_of_post(
            post=posts[post_id],
            layer=Layer(layer),
            marks={row.path: by_id[row.pk] for row in rows},
            actor=actor,
            note=words,
        )
        for (post_id, layer), rows in groups.items()
        if post_id in posts
    )
    there = sum(len(one.taken) + len(one.rejected) + len(one.left) for one in decisions)
    return InboxOutcome(decisions, len(by_id) - there)


def find_waiting_rows(marks: Iterable[Marked], who: Scoped) -> Grouped:
    """The rows of these marks that still wait for somebody, by post and layer. One query."""
    rows = queue(who).filter(pk__in={mark.id for mark in marks})
    groups: Grouped = {}
    for row in rows.order_by("post_id", "layer", "pk"):
        groups.setdefault((row.post_id, row.layer), []).append(row)
    return groups


def require_all(actor: Actor, groups: Grouped, marks: Mapping[int, Marked]) -> None:
    """Before the first post is written: who may not decide on all of it decides on none."""
    for (_, layer), rows in groups.items():
        for row in rows:
            if marks[row.pk].word == "publish":
                actor.require_session("approve and publish")
                for permission in APPROVE_AND_PUBLISH[Layer(layer)]:
                    actor.require(permission)
                continue
            is_submit = marks[row.pk].word == "accept" and layer == Layer.AI_REVIEW
            actor.require("posts.ai-review.approve" if is_submit else "posts.review.approve")


@transaction.atomic
def decide_of_post(
    *, post: Post, layer: Layer, marks: Mapping[str, Marked], actor: Actor, note: str
) -> Decision:
    """Decide on what is marked of one layer, by path, as far as it is what was seen. Raises only `NotAllowed`."""
    try:
        # Locked before it is read: of two people who decide at once, the second finds the changes gone.
        locked = lock_post(post.pk, actor)
        view = open_layers(locked).view(layer)
    except NotFound:
        return Decision(post, layer, gone=tuple(marks))
    # The paths whose change is still the one that was seen.
    present = [
        change.path
        for change in view.changes
        if change.path in marks and fingerprint(change) == marks[change.path].seen
    ]
    publishes = any(marks[path].word == "publish" for path in present)
    there = set(view.changes.paths)
    gone = tuple(path for path in marks if path not in there)
    moved = tuple(path for path in marks if path in there.difference(present))
    if not present:
        return Decision(post, layer, gone=gone, moved=moved)
    if publishes and locked.status != Status.PUBLISHED:
        why = gettext("This post is not published. Open its review to publish it.")
        return Decision(post, layer, gone=gone, moved=moved, refused=tuple(present), why=why)
    try:
        done = decide(
            post_id=post.pk,
            layer=layer,
            actor=actor,
            digest=digest_of(view.changes.only(present)),
            accept=[path for path in present if marks[path].word != "reject"],
            refuse=[path for path in present if marks[path].word == "reject"],
            note=note,
            publishes=publishes,
        )
    except NotAllowed:
        raise
    except CmsError as error:
        refused = tuple(present)
        return Decision(post, layer, gone=gone, moved=moved, refused=refused, why=error.message)
    decided = Decision(post, layer, done.taken, done.rejected, gone, moved, done.conflicts)
    is_approved = publishes or layer == Layer.REVIEW
    return replace(
        decided, rejections=done.rejections, is_approved=is_approved, is_live=done.is_live
    )
