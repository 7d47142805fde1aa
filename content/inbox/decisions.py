"""Decisions on changes of several posts, one transaction per post.

Changes that differ from what the reviewer saw are skipped.
"""

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
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound, invalid

MAX_DECISIONS: Final = 40
Word = Literal["accept", "reject", "publish"]
"""`publish` makes an AI Review change live directly; drafts are refused."""
Grouped = dict[tuple[UUID, str], list[QueuedChange]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A decision on a queue row. `seen` is the fingerprint of the change the reviewer saw."""

    id: int
    seen: str
    word: Word


@dataclass(frozen=True, slots=True)
class Decision:
    """The result for one layer of one post, as paths.

    `gone`: no longer waiting; `moved`: changed since seen; `held`: Review holds another change by a person;
    `refused`: failed because of `why`. `rejections`: ids for undoing the rejections. `is_approved`: the taken
    changes are post content now; `is_live`: also visible to visitors.
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
    """The results by post and layer. `gone`: number of changes no longer waiting."""

    decisions: tuple[Decision, ...]
    gone: int

    @property
    def submitted(self) -> int:
        """Number of changes moved from AI Review to Review."""
        return sum(len(one.taken) for one in self.decisions) - self.approved

    @property
    def approved(self) -> int:
        """Number of approved changes, of posts with any status."""
        return sum(len(one.taken) for one in self.decisions if one.is_approved)

    @property
    def live(self) -> int:
        """Number of approved changes that are public."""
        return sum(len(one.taken) for one in self.decisions if one.is_live)

    @property
    def rejected(self) -> int:
        return sum(len(one.rejected) for one in self.decisions)

    @property
    def left(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.decisions if one.left)


def decide_queued(*, marks: Sequence[Marked], actor: Actor, note: str = "") -> InboxOutcome:
    """Move accepted changes to the next layer (from Review: live) and reject the others.

    Changes that differ from what the reviewer saw stay and are reported. Raises `RuleViolation` on `marks` for
    none or too many, `NotAllowed` without permission.
    """
    actor.require_person("decide on what waits")
    if not 1 <= len(marks) <= MAX_DECISIONS:
        raise invalid(
            "marks", gettext("Decide on 1 to %(most)s changes at once.") % {"most": MAX_DECISIONS}
        )
    words = clean_note(note)
    groups = find_queued_rows(marks, actor)
    by_id = {mark.id: mark for mark in marks}
    require_all(actor, groups, by_id)
    posts = Post.objects.in_bulk([post_id for post_id, _ in groups])
    decisions = tuple(
        decide_for_post(
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


def find_queued_rows(marks: Iterable[Marked], who: Scoped) -> Grouped:
    """Return the rows of these marks that still wait, by post and layer. One query."""
    rows = queue(who).filter(pk__in={mark.id for mark in marks})
    groups: Grouped = {}
    for row in rows.order_by("post_id", "layer", "pk"):
        groups.setdefault((row.post_id, row.layer), []).append(row)
    return groups


def require_all(actor: Actor, groups: Grouped, marks: Mapping[int, Marked]) -> None:
    """Raise `NotAllowed` if the actor may not make all the decisions, before anything is written."""
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
def decide_for_post(
    *, post: Post, layer: Layer, marks: Mapping[str, Marked], actor: Actor, note: str
) -> Decision:
    """Decide on the marked paths of one layer that are still as seen. Raises only `NotAllowed`."""
    try:
        # Locked before reading, so that of two concurrent decisions the second finds the changes gone.
        locked = lock_post(post.pk, actor)
        view = open_layers(locked).view(layer)
    except NotFound:
        return Decision(post, layer, gone=tuple(marks))
    except Conflict as error:  # another person has locked the page
        return Decision(post, layer, refused=tuple(marks), why=error.message)
    # Only paths whose change still has the fingerprint the reviewer saw.
    present = [
        change.path
        for change in view.changes
        if change.path in marks and fingerprint(change) == marks[change.path].seen
    ]
    publishes = any(marks[path].word == "publish" for path in present)
    current_paths = set(view.changes.paths)
    gone = tuple(path for path in marks if path not in current_paths)
    moved = tuple(path for path in marks if path in current_paths.difference(present))
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
