"""URL paths of posts, made from the pattern of their type and locale, and stored on the post."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.translation import gettext as _

from content.models import Post, UrlPattern
from content.models.post import MAX_DEPTH, Status
from content.store.indirect_updates import record_indirect_updates
from content.store.joint_moves import joint_moves
from content.store.link_targets import remember_targets
from content.store.scopes import can_view
from content.store.url_pattern_rules import RESERVED_IN_EVERY_LOCALE, is_reserved
from proofroom.accounts.models import User
from proofroom.accounts.queries import first_admin
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.compiled_queries import CompiledQuery, instance_from_row
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute
from proofroom.definitions import find_post_type, post_types

HOME_SLUG: Final = "home"
"""Slug of the root page that is the home page of its locale."""
_PATH_MAX: Final = 1900
_BATCH_SIZE: Final = 500
_VARIABLE: Final = re.compile(r"\{(\w+)\}")
_PATTERN: Final = CompiledQuery(
    lambda type_, locale: UrlPattern.objects.filter(
        type=type_, locale=locale, is_removed=False
    ).values("pattern")
)
_AT_PATHS: Final = CompiledQuery(
    lambda paths: (
        Post.objects.alive()
        .filter(path__in=paths)
        .order_by("pk")
        .values("id", "path", "title", "type", "locale")
    )
)
Tree = Mapping[UUID, tuple[str, UUID | None]]
"""Slug and parent id of posts, by id."""


@dataclass(frozen=True, slots=True)
class Move:
    """A post whose path changed."""

    post: Post
    before: str


def pattern_of(type_name: str, locale: str) -> str:
    """Return the stored pattern, or the type's own. One query.

    Posts whose type no longer exists follow `/<type>/{slug}`, even if a pattern is stored.
    """
    definition = post_types.get(type_name)
    if definition is None:
        return f"/{type_name}/{{slug}}"
    rows = _PATTERN.rows(type_name, locale)
    return str(rows[0]["pattern"]) if rows else definition.url_pattern


def patterns_of(type_name: str) -> list[str]:
    """Return the distinct patterns of a type in the order of the locales. One query.

    Raises `RuleViolation` for an unknown type.
    """
    stored = UrlPattern.objects.filter(type=type_name, is_removed=False)
    by_locale = dict(stored.values_list("locale", "pattern"))
    own = find_post_type(type_name).url_pattern
    return list(dict.fromkeys(by_locale.get(locale, own) for locale in settings.CMS_ENV.locales))


def path_for(post: Post, pattern: str | None = None) -> str:
    """Return the path of a post, empty for a variation. Only the default locale has no prefix."""
    if post.variation_of_id is not None:
        return ""
    # Slugs from the root down to the post. The limit also ends a cycle of parents.
    slugs = [post.slug]
    ancestor, depth = post.parent, 0
    while ancestor is not None and depth < MAX_DEPTH:
        slugs.insert(0, ancestor.slug)
        ancestor, depth = ancestor.parent, depth + 1
    return fill_pattern(pattern or pattern_of(post.type, post.locale), post, slugs)


def fill_pattern(pattern: str, post: Post, slugs: Sequence[str]) -> str:
    """Return the path by a pattern.

    `slugs`: from the root down to the post. A leading `/{locale}` is dropped, because the locale's prefix is added
    anyway.
    """
    day = post.published_at or post.created_at
    values = {
        "slug": post.slug,
        "locale": post.locale,
        "path": "/".join(slugs),
        "yyyy": f"{day:%Y}",
        "mm": f"{day:%m}",
        "dd": f"{day:%d}",
    }
    if pattern.startswith("/{locale}/"):
        pattern = pattern.removeprefix("/{locale}")
    path = _VARIABLE.sub(lambda found: values.get(found[1], found[0]), pattern)
    if len(path) > _PATH_MAX:
        raise invalid(
            "slug",
            _("The address would be longer than %(longest)s characters.")
            % {"longest": f"{_PATH_MAX:,}"},
        )
    prefix = "" if post.locale == settings.CMS_ENV.default_locale else f"/{post.locale}"
    if path == f"/{HOME_SLUG}" and post.parent_id is None:
        return f"{prefix}/"
    return prefix + path


def slugs_in(tree: Tree, post: Post) -> list[str]:
    """Return the slugs from the root down to the post, without a query."""
    slugs, parent, depth = [post.slug], post.parent_id, 0
    while parent is not None and parent in tree and depth < MAX_DEPTH:
        slug, above = tree[parent]
        slugs.insert(0, slug)
        parent, depth = above, depth + 1
    return slugs


def set_path(post: Post, path: str) -> list[Move]:
    """Set the path without saving. Returns the move if the path changed."""
    before, post.path = post.path, path
    if before == path:
        return []
    # A canonical URL that pointed to the post itself continues to do so.
    if before and post.canonical_url == absolute(before):
        post.canonical_url = absolute(path)
    return [Move(post, before)]


def save_paths(posts: Sequence[Post]) -> None:
    """Save the changes of `set_path`."""
    Post.objects.bulk_update(posts, ["path"])
    Post.objects.bulk_update([post for post in posts if post.canonical_url], ["canonical_url"])


def actor_of_move(changed_by: User | None) -> Actor | None:
    """Return an actor for the user who caused the move, or for the first active admin if the account is deleted."""
    user = changed_by or first_admin()
    return Actor(user=user, via="system") if user is not None else None


def record_moves(
    moves: Sequence[Move],
    actor: Actor,
    *,
    recorded: Collection[UUID] = (),
    cause: str = "move",
    taken: Collection[str] = (),
) -> None:
    """Record each changed path, and a change of the post unless it is in the trash or in `recorded`.

    `recorded`: posts whose change the caller records itself. `cause`: what moved them, for `content.changed`.
    `taken`: former paths that other posts have, to which the links lead. Call it only after every row is locked,
    because it locks the content version.
    """
    # Webhooks hear of moves that were recorded together in one call.
    batch = {"batch": str(uuid4())} if len(moves) > 1 else {}
    things: list[tuple[UUID, JsonObject]] = [
        (
            move.post.pk,
            {
                "id": str(move.post.pk),
                "type": move.post.type,
                "locale": move.post.locale,
                "from": move.before,
                "to": move.post.path,
                "isLive": move.post.status == Status.PUBLISHED and move.post.deleted_at is None,
                "cause": cause,
                **batch,
            },
        )
        for move in moves
    ]
    # A post in the trash can have the path of another post, to which the links lead.
    shown = [move for move in moves if move.before and move.post.deleted_at is None]
    remember_targets({move.before: move.post.pk for move in shown if move.before not in taken})
    outbox.record_all("post.moved", things, actor=actor)
    changed = [move.post for move in moves if move.post.pk not in recorded]
    record_indirect_updates(
        {post: _address_paths(post) for post in changed if post.deleted_at is None}, actor
    )


def _address_paths(post: Post) -> list[str]:
    # `set_path` changed a canonical URL that pointed to the post itself.
    is_own = post.canonical_url == absolute(post.path)
    return ["post.url", "post.canonicalUrl"] if is_own else ["post.url"]


def check_paths_are_free(posts: Iterable[Post], actor: Actor) -> None:
    """Raise `RuleViolation` on `slug` if a path is reserved or used by another post that is not in the trash.

    In a block of `moving_together` the other posts are compared after the last write, by `check_joint_moves`.
    """
    shown = [post for post in posts if post.path and post.deleted_at is None]
    for post in shown:
        check_path_is_not_reserved("slug", post)
    moves = joint_moves()
    if moves is not None:
        moves.check_later(shown, actor)
        return
    wanted = {post.path: post.pk for post in shown}
    for other in find_posts_at(wanted):
        if wanted[other.path] != other.pk:
            raise path_taken("slug", other, actor)


def check_path_is_not_reserved(field: str, post: Post) -> None:
    """Raise `RuleViolation` if the path is below one that the site reserves."""
    is_default = post.locale == settings.CMS_ENV.default_locale
    # In other locales the first segment is the prefix.
    first = post.path.split("/")[1 if is_default else 2]
    others = settings.CMS_ENV.locales if is_default else RESERVED_IN_EVERY_LOCALE
    if first in others or (is_default and is_reserved(first)):
        raise invalid(
            field,
            _("Addresses below /%(first)s are reserved, so %(path)s cannot be used.")
            % {"first": first, "path": post.path},
            code="path_reserved",
        )


def find_posts_at(paths: Iterable[str]) -> Iterator[Post]:
    """Yield the posts at these paths that are not in the trash."""
    # In batches: SQLite limits the number of parameters of a statement.
    listed = sorted(paths)
    for start in range(0, len(listed), _BATCH_SIZE):
        for row in _AT_PATHS.rows(listed[start : start + _BATCH_SIZE]):
            yield instance_from_row(Post, row)


def path_taken(field: str, other: Post, actor: Actor) -> RuleViolation:
    """Return the error for a path of another post. It names the post only if the actor may view it.

    Errors of the system are stored, and shown to people who may see less than who scheduled the work.
    """
    if actor.via == "system" or not can_view(actor, other):
        return invalid(
            field,
            _("Another page already uses the address %(path)s.") % {"path": other.path},
            code="path_taken",
        )
    return invalid(
        field,
        _("The %(type)s %(title)r (%(pk)s) already uses the address %(path)s.")
        % {"type": other.type, "title": other.title, "pk": other.pk, "path": other.path},
        code="path_taken",
    )
