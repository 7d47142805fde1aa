"""URL patterns by post type and locale. The stored paths of posts follow a change, immediately or in a task."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.document.labels import type_label
from content.models import Post, Status, UrlPattern
from content.store.post_paths import (
    Move,
    Tree,
    actor_of_move,
    check_path_is_not_reserved,
    fill_pattern,
    find_posts_at,
    path_taken,
    pattern_of,
    record_moves,
    save_paths,
    set_path,
    slugs_in,
)
from content.store.url_pattern_rules import clean_pattern
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.i18n.languages import language_name, require_site_language
from proofroom.core.models import Event
from proofroom.definitions import find_post_type, post_types

CHANGED: Final = "urlPattern.changed"


@transaction.atomic
def create_pattern(
    *, actor: Actor, type: str, locale: str, pattern: str, pattern_id: UUID | None = None
) -> UrlPattern:
    """Create the URL pattern of a type in a locale. `pattern_id`: id in another installation.

    Raises `RuleViolation` by field, also if the pattern exists.
    """
    _require_permission(actor)
    _require_known(type, locale)
    text = clean_pattern(pattern)
    row = UrlPattern.objects.select_for_update().filter(type=type, locale=locale).first()
    if row is not None and not row.is_removed:
        raise _pattern_exists(type, locale)
    # A removed pattern whose posts are still moving is reused.
    row = row or UrlPattern(id=pattern_id or uuid4(), type=type, locale=locale)
    row.pattern, row.is_removed = text, False
    return _save_and_follow(row, actor)


@transaction.atomic
def change_pattern(
    *,
    pattern_id: UUID | str,
    actor: Actor,
    pattern: str,
    type: str | None = None,
    locale: str | None = None,
    expected_version: int | None = None,
) -> UrlPattern:
    """Change the pattern of a type and locale.

    Raises `Conflict` for an old version, otherwise as `create_pattern`.
    """
    _require_permission(actor)
    row = _lock_pattern(pattern_id)
    for name, given in (("type", type), ("locale", locale)):
        if given is not None and given != getattr(row, name):
            raise invalid(
                name,
                _("The %(name)s of a pattern cannot be changed. Create another pattern.")
                % {"name": name},
            )
    _require_known(row.type, row.locale)
    if expected_version is not None and expected_version != row.version:
        raise Conflict(
            _("This pattern has changed since you opened it."),
            code="stale_version",
            current=row.version,
        )
    text = clean_pattern(pattern)
    if text == row.pattern:
        return row
    row.pattern = text
    return _save_and_follow(row, actor)


@transaction.atomic
def delete_pattern(*, pattern_id: UUID | str, actor: Actor) -> UUID:
    """Return to the type's own pattern. Returns the id of the removed pattern."""
    _require_permission(actor)
    row = _lock_pattern(pattern_id)
    id_ = row.pk
    row.is_removed = True
    _save_and_follow(row, actor)
    return id_


def _save_and_follow(row: UrlPattern, actor: Actor) -> UrlPattern:
    """Save the row. Move a few posts immediately, and leave many to a worker."""
    is_new = row._state.adding
    row.version += 0 if is_new else 1
    row.changed_by_id = actor.user.pk
    try:
        # In a savepoint, so that the outer transaction stays usable after the error.
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise _pattern_exists(row.type, row.locale) from None
    check_addresses(row.type, row.locale, pattern_of(row.type, row.locale), actor)
    posts = Post.objects.filter(type=row.type, locale=row.locale)
    # A slice, so that the database does not count more than needed.
    row.is_pending = posts[: BATCH_SIZE + 1].count() > BATCH_SIZE
    row.save(update_fields=["is_pending"])
    if not row.is_pending:
        move_all(row.type, row.locale, actor)
    outbox.record(
        CHANGED,
        actor=actor,
        payload={"id": str(row.pk), "type": row.type, "locale": row.locale},
    )
    if row.is_removed and not row.is_pending:
        row.delete()
    return row


def _lock_pattern(pattern_id: UUID | str) -> UrlPattern:
    rows = UrlPattern.objects.select_for_update().filter(is_removed=False)
    row = find_by_id(rows, pattern_id)
    if row is None:
        raise _not_found(pattern_id)
    return row


def _require_known(type_name: str, locale: str) -> None:
    find_post_type(type_name)
    require_site_language(locale)


def _not_found(pattern_id: object) -> NotFound:
    return NotFound(
        _("No URL pattern has the ID %(pattern_id)s.") % {"pattern_id": str(pattern_id)[:80]}
    )


def _pattern_exists(type_name: str, locale: str) -> RuleViolation:
    return invalid(
        "type",
        _("There is already a pattern for the type %(type)s in %(language)s. Edit that one.")
        % {"type": type_label(type_name), "language": language_name(locale)},
        code="pattern_exists",
    )


logger = logging.getLogger(__name__)
BATCH_SIZE: Final = 200
"""Maximum number of posts moved in the request, and number of posts per transaction of a worker."""


def move_all(type_name: str, locale: str, actor: Actor) -> int:
    """Set the paths of all posts of a type and locale by the current pattern. Returns the number of moved posts."""
    total, after = 0, UUID(int=0)
    while True:
        with transaction.atomic():
            rows = Post.objects.select_for_update(of=("self",), no_key=True)
            rows = rows.filter(type=type_name, locale=locale, variation_of=None, pk__gt=after)
            posts = list(rows.order_by("pk")[:BATCH_SIZE])
            # Read after the lock, so that another change of the pattern meanwhile is included.
            pattern, tree = pattern_of(type_name, locale), tree_of(type_name, locale)
            moves: list[Move] = []
            for post in posts:
                moves += set_path(post, fill_pattern(pattern, post, slugs_in(tree, post)))
            save_paths([move.post for move in moves])
            record_moves(moves, actor, cause="url_pattern")
        total += len(moves)
        if len(posts) < BATCH_SIZE:
            return total
        after = posts[-1].pk


def tree_of(type_name: str, locale: str) -> Tree:
    definition = post_types.get(type_name)
    if definition is None or not definition.hierarchical:
        return {}
    rows = Post.objects.filter(type=type_name, locale=locale).values_list("pk", "slug", "parent_id")
    return {pk: (slug, parent) for pk, slug, parent in rows}


def check_addresses(type_name: str, locale: str, pattern: str, actor: Actor) -> None:
    """Raise `RuleViolation` on `pattern` if the new path of a post is used by another."""
    wanted: dict[str, UUID] = {}
    tree = tree_of(type_name, locale)
    rows = Post.objects.alive().filter(type=type_name, locale=locale)
    names = ("pk", "type", "title", "locale", "slug", "parent_id", "published_at", "created_at")
    for post in rows.only(*names).iterator():
        try:
            post.path = fill_pattern(pattern, post, slugs_in(tree, post))
        except RuleViolation as error:
            raise invalid("pattern", error.message) from None
        if post.path in wanted:
            raise path_taken("pattern", post, actor)
        check_path_is_not_reserved("pattern", post)
        wanted[post.path] = post.pk
    for other in find_posts_at(wanted):
        # Posts of the same type and locale move too, and were compared with each other above.
        if (other.type, other.locale) != (type_name, locale):
            raise path_taken("pattern", other, actor)


def follow_pattern(event: Event) -> None:
    """Move the remaining posts after an event of a changed pattern."""
    follow_pending(UUID(str(event.payload["id"])))


def follow_pending(pattern_id: UUID) -> int:
    """Move all posts of a pending pattern. Returns the number of moved posts."""
    row = UrlPattern.objects.filter(pk=pattern_id, is_pending=True).first()
    if row is None:
        return 0
    actor = actor_of_move(row.changed_by)
    if actor is None:
        logger.warning("URL pattern %s is not applied: there is no active admin", row)
        return 0
    moved = move_all(row.type, row.locale, actor)
    # A concurrent change has another version and its own event, so it must not be marked as done here.
    done = UrlPattern.objects.filter(pk=pattern_id, version=row.version)
    if row.is_removed:
        done.filter(is_removed=True).delete()
    else:
        done.update(is_pending=False)
    return moved


MAX_POSTS_READ: Final = 2_000
"""Maximum number of posts of a preview, the newest first. Saving the pattern checks all posts."""
_MOST_SHOWN: Final = 6
_MOST_PROBLEMS: Final = 5


@dataclass(frozen=True, slots=True)
class Example:
    title: str
    before: str
    after: str
    is_live: bool


@dataclass(slots=True)
class Examples:
    """The preview of a pattern.

    `moving`: posts with a new path. `leading`: published posts among them, whose old path redirects.
    """

    shown: list[Example] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    total: int = 0
    moving: int = 0
    leading: int = 0
    is_whole: bool = True


def preview_pattern(type_name: str, locale: str, pattern: str) -> Examples:
    """Return examples of posts with their current and new path, and problems of the pattern."""
    found = Examples()
    try:
        clean_pattern(pattern)
    except RuleViolation as error:
        found.problems.append(error.message)
        return found
    posts = Post.objects.alive().filter(type=type_name, locale=locale, variation_of=None)
    found.total = posts.count()
    found.is_whole = found.total <= MAX_POSTS_READ
    # Posts by new path.
    wanted: dict[str, Post] = {}
    rows = posts.order_by("-updated_at").defer("jsonld_overrides", "custom_fields")[:MAX_POSTS_READ]
    tree = tree_of(type_name, locale) if found.total else {}
    for post in rows:
        before = post.path
        try:
            post.path = fill_pattern(pattern, post, slugs_in(tree, post))
            check_path_is_not_reserved("pattern", post)
        except RuleViolation as error:
            _add_problem(found, error.message)
            continue
        if post.path in wanted:
            _add_duplicate(found, post, wanted[post.path])
        wanted[post.path] = post
        if before != post.path:
            is_live = post.status == Status.PUBLISHED
            found.moving += 1
            found.leading += bool(before and post.published_at)
            if len(found.shown) < _MOST_SHOWN:
                found.shown.append(Example(post.title, before, post.path, is_live))
    for other in find_posts_at(wanted):
        if (other.type, other.locale) != (type_name, locale):
            _add_duplicate(found, wanted[other.path], other)
    return found


def _add_duplicate(found: Examples, post: Post, other: Post) -> None:
    message = _("“%(one)s” and “%(other)s” would have the same address %(path)s.")
    _add_problem(found, message % {"one": post.title, "other": other.title, "path": post.path})


def _add_problem(found: Examples, problem: str) -> None:
    if len(found.problems) < _MOST_PROBLEMS and problem not in found.problems:
        found.problems.append(problem)


def _require_permission(actor: Actor) -> None:
    actor.require_person("change URL patterns")
    actor.require("urlPatterns.edit")
