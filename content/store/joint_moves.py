"""Posts that get new addresses in one transaction, so that they can swap them.

The unique constraint of slugs holds after each statement. A post whose address another one takes therefore leaves it
first, for a slug that no post can have. The addresses as a whole are checked after the last write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db.models import CharField, Value
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Concat

from content.models import Draft, Layer, Post
from content.models.post import MAX_DEPTH
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import find_post_type

_AT_ONCE: Final = 500
_LEFT: Final = "~"
"""Start of the slug of a post that left its address. No slug that a person chooses has it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Slug and parent of a post."""

    slug: str
    parent_id: UUID | None


_Address = tuple[str, str, str, UUID | None]


@dataclass(slots=True)
class JointMoves:
    """Posts and the places they move to.

    `pending`: posts that were not written yet. `writing`: the post that is written now. `moved`: posts whose path
    changed, each with the post that was written then. `trees`: written posts with descendants that follow later.
    """

    places: Mapping[UUID, Place]
    pending: set[UUID] = field(default_factory=set)
    writing: UUID | None = None
    moved: list[tuple[UUID, UUID, Actor]] = field(default_factory=list)
    trees: list[tuple[UUID, Actor]] = field(default_factory=list)
    _before: dict[UUID, _Address] = field(default_factory=dict)
    _after: dict[_Address, list[UUID]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for ids in batches(list(self.places), _AT_ONCE):
            rows = Post.objects.alive().filter(pk__in=ids)
            columns = ("pk", "type", "locale", "slug", "parent_id")
            for pk, type_, locale, slug, parent_id in rows.values_list(*columns):
                place = self.places[pk]
                self._before[pk] = address_of(type_, locale, slug, parent_id)
                after = address_of(type_, locale, place.slug, place.parent_id)
                self._after.setdefault(after, []).append(pk)
        self.pending = set(self._before)

    def depth_of(self, post_id: UUID) -> int:
        """Return how many of the posts that move will be above this one, because parents are written first."""
        depth, seen = 0, {post_id}
        place = self.places.get(post_id)
        while place is not None and place.parent_id is not None and depth < MAX_DEPTH:
            if place.parent_id in seen:
                break
            seen.add(place.parent_id)
            place, depth = self.places.get(place.parent_id), depth + 1
        return depth

    def leave(self) -> None:
        """Take the posts off the addresses that others of them take. The caller has locked them."""
        leaving = [
            pk
            for pk, address in self._before.items()
            if any(other != pk for other in self._after.get(address, ()))
        ]
        slug = Concat(Value(_LEFT), Cast("pk", CharField()), output_field=CharField())
        for ids in batches(leaving, _AT_ONCE):
            Post.objects.filter(pk__in=ids).update(slug=slug)

    def begin(self, post: Post) -> None:
        """Begin to move a locked post: give it the slug that it had before it left its address."""
        if post.pk in self.pending:
            post.slug = self._before[post.pk][2]
            self.pending.remove(post.pk)

    def is_wanted(self, address: _Address, post_id: UUID) -> bool:
        """Return whether another of the posts moves to the address."""
        return any(other != post_id for other in self._after.get(address, ()))

    def parent_of(self, post: Post) -> Post | None:
        """Return the parent that a post will have."""
        if post.pk not in self.pending:
            return post.parent
        parent_id = self.places[post.pk].parent_id
        return Post.objects.alive().filter(pk=parent_id).first() if parent_id else None

    def check_later(self, posts: Collection[Post], actor: Actor) -> None:
        """Note posts whose new paths are checked after the last write."""
        self.moved += [(self.writing or post.pk, post.pk, actor) for post in posts]


def address_of(type_: str, locale: str, slug: str, parent_id: UUID | None) -> _Address:
    """Return what only one post can have. Without hierarchy it has no parent."""
    return type_, locale, slug, parent_id if find_post_type(type_).hierarchical else None


def place_columns() -> tuple[Combinable | str, ...]:
    """Return slug and parent of the document of a draft or a revision, and those of its post."""
    stored: tuple[Combinable, ...] = (
        KT("document__post__slug"),
        KT("document__post__parentId"),
    )
    return *stored, "post__slug", "post__parent_id"


def leaves_in_review(post_id: UUID) -> bool:
    """Return whether a change in Review gives a post another slug or parent. One query."""
    drafts = Draft.objects.filter(post=post_id, layer=Layer.REVIEW, is_empty=False)
    rows = drafts.values_list(*place_columns())
    return any(
        (slug or live_slug, parse_uuid(parent or "")) != (live_slug, live_parent)
        for slug, parent, live_slug, live_parent in rows
    )


_current: ContextVar[JointMoves | None] = ContextVar("joint_moves", default=None)


def joint_moves() -> JointMoves | None:
    """Return the joint moves of the present block."""
    return _current.get()


@contextmanager
def moving_together(moves: JointMoves) -> Iterator[None]:
    """Let posts take the addresses that others of them leave. The caller checks all addresses after the block."""
    token = _current.set(moves)
    try:
        yield
    finally:
        _current.reset(token)
