"""Move: move pages with their subtrees to another place, and preview the move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from content.document.changes import diff
from content.document.document import PostDocument
from content.layers.live import Written, record_updates, write_many
from content.models import Post
from content.models.post import MAX_DEPTH
from content.paths.tree_changes import BATCH_SIZE, lock_below
from content.posts.edit import edit_post
from content.rules.check import check_depth, check_parent, check_slug_is_free
from content.rules.place_scope import require_place_in_scope
from content.store import post_repository
from content.store.post_paths import check_paths_are_free, path_for, pattern_of
from content.store.scopes import changeable_by, hidden_post_ids, post_not_found, visible_to
from content.store.tree_queries import count_descendants, descendant_ids
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation, invalid
from proofroom.definitions import find_post_type

_MOVE_LOCK: Final = 0x636F_6E01
"""Key of the PostgreSQL advisory lock for moves."""
MAX_MOVED: Final = 50
"""Number of pages in one move, without the pages below them."""
MAX_RENUMBERED: Final = 200
"""Number of siblings whose order one move can change."""
MAX_LISTED: Final = 50
"""Number of addresses listed in a plan."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the tree: below a page, or at the top level if `parent_id` is None.

    `before` is the next sibling, or `"end"`. If it is None, the page is placed by its order or title.
    """

    parent_id: UUID | None
    before: UUID | Literal["end"] | None = None


@dataclass(frozen=True, slots=True)
class AddressChange:
    """A page whose address changes. `has_redirect`: the old address will redirect to the new one."""

    title: str
    before: str
    after: str
    has_redirect: bool


@dataclass(frozen=True, slots=True)
class MovePlan:
    """The effects of a move. `changes` holds the first of `total` address changes."""

    posts: Sequence[Post]
    parent: Post | None
    changes: Sequence[AddressChange]
    total: int
    redirects: int


def plan_move(*, post_ids: Sequence[UUID], parent_id: UUID | None, actor: Actor) -> MovePlan:
    """Return the effects of a move without writing anything. Raises what the move would raise.

    Pages in the subtree that the actor may not see are moved but not listed.
    """
    actor.require("posts.edit")
    seen = visible_to(Post.objects.alive(), actor)
    posts = _load_chosen(changeable_by(Post.objects.alive(), actor), post_ids)
    parent = seen.filter(pk=parent_id).first() if parent_id else None
    changes: list[AddressChange] = []
    total = redirects = 0
    used_slugs: set[str] = set()
    # One lookup per type and language instead of one per page.
    pattern = cache(pattern_of)
    for post in posts:
        # Only the order changes, which has no effect on paths.
        if parent_id == post.parent_id:
            continue
        _require_place(post, parent_id, actor)
        check_depth(post, check_parent(post, parent_id, actor))
        check_slug_is_free(post, post.slug, parent_id)
        # The moved pages are not at the new place yet, so they are also compared with each other.
        if post.slug in used_slugs:
            message = _(
                "Two of these pages have the slug %(slug)r and cannot have the same parent."
            )
            raise invalid("slug", message % {"slug": post.slug}, code="slug_taken")
        used_slugs.add(post.slug)
        before = post.path
        # In memory only, to compute the new paths.
        post.parent = parent
        post.path = path_for(post, pattern(post.type, post.locale))
        if post.path == before:
            continue
        ids = descendant_ids(post.pk, most=BATCH_SIZE + 1)
        is_large = len(ids) > BATCH_SIZE
        hidden = hidden_post_ids(ids, actor)
        moved = [AddressChange(post.title, before, post.path, post.published_at is not None)]
        renamed = [post]
        # A worker moves large subtrees, so only the first pages are loaded here.
        for page, old in _load_below(post, ids[:MAX_LISTED] if is_large else ids):
            page.path = path_for(page, pattern(page.type, page.locale))
            if page.path != old:
                renamed.append(page)
                has_redirect = page.published_at is not None
                if page.pk not in hidden:
                    moved.append(AddressChange(page.title, old, page.path, has_redirect))
        check_paths_are_free(renamed, actor)
        changes += moved[: MAX_LISTED - len(changes)]
        if is_large and len(moved) > 1:
            below, published = count_descendants(post.pk)
            total += 1 + below
            redirects += moved[0].has_redirect + published
        else:
            total += len(moved)
            redirects += sum(one.has_redirect for one in moved)
    return MovePlan(posts, parent, changes, total, redirects)


@transaction.atomic
def move_posts(
    *,
    post_ids: Sequence[UUID],
    place: Place,
    actor: Actor,
    expected_versions: Mapping[UUID, int] | None = None,
) -> list[Post]:
    """Move pages with their subtrees in one transaction. Pages below another chosen page are ignored.

    Raises `Conflict` if a page doesn't have the expected version, `RuleViolation` on `slug` or `parentId` if it
    can't be placed there, `NotFound`, and `NotAllowed`, also if siblings that the actor may not change would
    have to make room.
    """
    actor.require_person("move pages")
    actor.require("posts.edit")
    if connection.vendor == "postgresql":
        # Moves run one at a time: two that lock each other's siblings would deadlock.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_MOVE_LOCK])
    rows = changeable_by(Post.objects.alive(), actor)
    posts = _load_chosen(rows.select_for_update(of=("self",), no_key=True), post_ids)
    for post in posts:
        expected = (expected_versions or {}).get(post.pk)
        if expected is not None and expected != post.version:
            message = _(
                "“%(title)s” was changed by somebody else in the meantime. "
                "Reload the page and try again."
            ) % {"title": post.title}
            raise Conflict(message, code="stale_version", current=post.version)
    for post in posts:
        _require_place(post, place.parent_id, actor)
    check_parent(posts[0], place.parent_id, actor)
    orders, shifted = _orders(posts, place, actor)
    # All rows are locked before the first event, because recording an event takes the lock of the content
    # version.
    neighbours = _renumber(shifted, actor)
    if len(posts) > 1:
        lock_below(posts)
    moved = [_move(post, place.parent_id, orders[post.pk], actor) for post in posts]
    record_updates([(item.post.pk, item.payload()) for item in neighbours], actor=actor)
    return moved


def _require_place(post: Post, parent_id: UUID | None, actor: Actor) -> None:
    """Raise `NotAllowed` if the actor's scope doesn't include the page at the new place. Runs before other checks."""
    if not actor.scopes:
        return
    document = post_repository.load(post)
    placed = document.with_fields({"parentId": str(parent_id) if parent_id else None})
    require_place_in_scope(post=post, before=document, after=placed, actor=actor)


def _load_below(post: Post, ids: Sequence[UUID]) -> Iterator[tuple[Post, str]]:
    """Yield the pages with these ids, parents first, each with its path. `parent` is already set. One query."""
    found = Post.objects.in_bulk(ids) if ids else {}
    known = {post.pk: post, **found}
    for page in (found[id_] for id_ in ids if id_ in found):
        page.parent = known.get(page.parent_id) if page.parent_id else None
        yield page, page.path


def _move(post: Post, parent_id: UUID | None, order: int, actor: Actor) -> Post:
    def put(document: PostDocument) -> PostDocument:
        return document.with_fields(
            {"parentId": str(parent_id) if parent_id else None, "orderIndex": order}
        )

    return edit_post(post_id=post.pk, actor=actor, edit=put)


def _load_chosen(rows: QuerySet[Post], post_ids: Sequence[UUID]) -> list[Post]:
    """Return the pages in the given order, without pages below another of them."""
    if len(post_ids) > MAX_MOVED:
        message = _("Choose at most %(most)s pages.") % {"most": MAX_MOVED}
        raise RuleViolation(message, code="too_many")
    found = {post.pk: post for post in rows.filter(pk__in=post_ids).order_by("pk")}
    missing = [id_ for id_ in post_ids if id_ not in found]
    if missing or not post_ids:
        raise post_not_found(missing[0] if missing else "")
    posts = [found[id_] for id_ in dict.fromkeys(post_ids)]
    first = posts[0]
    if not find_post_type(first.type).hierarchical:
        message = _("Posts of type %(type)s have no hierarchy.") % {"type": first.type}
        raise invalid("parentId", message)
    if {(post.type, post.locale) for post in posts} != {(first.type, first.locale)}:
        raise RuleViolation(_("Choose pages of one type and one language."), code="mixed_pages")
    above = _ancestors_of(posts)
    return [post for post in posts if not above[post.pk] & found.keys()]


def _ancestors_of(posts: Sequence[Post]) -> dict[UUID, set[UUID]]:
    """Return the ids of all ancestors of each page. One query per level, none for a single page."""
    if len(posts) == 1:
        return {posts[0].pk: set()}
    parents: dict[UUID, UUID | None] = {post.pk: post.parent_id for post in posts}
    for _level in range(MAX_DEPTH):
        wanted = {id_ for id_ in parents.values() if id_ is not None} - parents.keys()
        if not wanted:
            break
        parents |= dict(Post.objects.filter(pk__in=wanted).values_list("pk", "parent_id"))
    above: dict[UUID, set[UUID]] = {}
    for post in posts:
        # `seen` ends the loop if the data has a cycle of parents.
        seen: set[UUID] = set()
        parent = post.parent_id
        while parent is not None and parent not in seen:
            seen.add(parent)
            parent = parents.get(parent)
        above[post.pk] = seen
    return above


def _orders(
    posts: Sequence[Post], place: Place, actor: Actor
) -> tuple[dict[UUID, int], dict[UUID, int]]:
    """Return the new order of each page, and of the siblings that make room.

    One query, two more for actors with scopes.
    """
    own = {post.pk for post in posts}
    siblings = Post.objects.alive().filter(
        type=posts[0].type, locale=posts[0].locale, parent_id=place.parent_id
    )
    ordered = siblings.exclude(pk__in=own).order_by("order_index", "title", "id")
    rows = list(ordered.values_list("pk", "order_index"))
    if place.before is None:
        # Siblings that share one number are sorted by title, and the page joins them.
        numbers = {number for _id, number in rows}
        last = max(numbers, default=0)
        if len(numbers) > 1:
            return {post.pk: last + at for at, post in enumerate(posts, 1)}, {}
        return {post.pk: last for post in posts}, {}
    ids = [id_ for id_, _number in rows]
    next_ids = set(ids) - hidden_post_ids(ids, actor)
    if place.before != "end" and place.before not in next_ids:
        message = _("The next page no longer exists. Reload the page.")
        raise Conflict(message, code="stale_place")
    at = len(ids) if place.before == "end" else ids.index(place.before)
    orders, shifted = _make_room(posts, rows[:at], rows[at:])
    changeable = changeable_by(Post.objects.filter(pk__in=shifted), actor)
    if actor.scopes and shifted and changeable.count() < len(shifted):
        raise NotAllowed(
            _("This would move pages that you cannot change. Choose another place."),
            code="outside_of_scope",
        )
    return orders, shifted


def _make_room(
    posts: Sequence[Post],
    before: Sequence[tuple[UUID, int]],
    after: Sequence[tuple[UUID, int]],
) -> tuple[dict[UUID, int], dict[UUID, int]]:
    """Return order numbers for the pages and the shifted siblings. Shifts the side on which fewer have to move."""
    first = before[-1][1] + 1 if before else after[0][1] - len(posts) if after else 0
    upwards = _shift(after, first + len(posts))
    if before and upwards:
        last = after[0][1] - 1
        # Negated and reversed, so that `_shift` can also shift downwards.
        mirrored = [(id_, -number) for id_, number in reversed(before)]
        downwards = _shift(mirrored, len(posts) - last)
        if len(downwards) < len(upwards):
            numbers = {post.pk: last - at for at, post in enumerate(reversed(posts))}
            return numbers, {id_: -number for id_, number in downwards.items()}
    return {post.pk: first + at for at, post in enumerate(posts)}, upwards


def _shift(rows: Sequence[tuple[UUID, int]], least: int) -> dict[UUID, int]:
    """Return new numbers for the first rows, so that all are at least `least`. Rows with equal numbers stay equal."""
    shifted: dict[UUID, int] = {}
    old = None
    for id_, number in rows:
        if number != old:
            if number >= least:
                break
            old, new = number, least
            least += 1
        shifted[id_] = new
    return shifted


def _renumber(orders: Mapping[UUID, int], actor: Actor) -> list[Written]:
    """Save the new order of siblings. The caller records the events."""
    if len(orders) > MAX_RENUMBERED:
        message = _(
            "More than %(most)s pages would have to change their position. Set "
            "“Position in lists” in the settings of the page instead."
        ) % {"most": MAX_RENUMBERED}
        raise RuleViolation(message, code="too_many")
    rows = Post.objects.alive().filter(pk__in=orders).order_by("pk")
    # Locked in order of ids, as by all writers, so that they can't deadlock.
    locked = rows.select_for_update(of=("self",), no_key=True) if orders else rows.none()
    written = []
    for post, document in post_repository.load_many(locked):
        after = document.with_fields({"orderIndex": orders[post.pk]})
        written.append(Written(post, document, after, diff(document, after)))
    write_many(written, actor=actor, reason="edited", is_update=False)
    return written
