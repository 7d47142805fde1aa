"""URL paths of posts: from the pattern of their type and locale, stored on the post, set when what they are made of
changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from content.models import Post, UrlPattern
from content.models.post import MAX_DEPTH
from content.store.indirect_updates import record_indirect_updates
from content.store.scopes import sees
from content.store.url_pattern_rules import RESERVED_IN_EVERY_LOCALE, is_reserved
from proofroom.accounts.models import User
from proofroom.accounts.queries import first_admin
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.statements import Statement, instance_from_row
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute
from proofroom.definitions import find_post_type, post_types

HOME_SLUG: Final = "home"
"""The root page of this slug is the home page of its locale."""
_LONGEST: Final = 1900
_AT_A_TIME: Final = 500
_VARIABLE: Final = re.compile(r"\{(\w+)\}")
_PATTERN: Final = Statement(
    lambda type_, locale: UrlPattern.objects.filter(
        type=type_, locale=locale, is_removed=False
    ).values("pattern")
)
_AT_PATHS: Final = Statement(
    lambda paths: (
        Post.objects.alive()
        .filter(path__in=paths)
        .order_by("pk")
        .values("id", "path", "title", "type", "locale")
    )
)
Tree = Mapping[UUID, tuple[str, UUID | None]]
"""Slug and parent of posts, by id."""


@dataclass(frozen=True, slots=True)
class Move:
    """A post whose path changed."""

    post: Post
    before: str


def pattern_of(type_name: str, locale: str) -> str:
    """The pattern that paths follow: the stored one, else the type's own. One query.

    Posts whose type no longer exists follow `/<type>/{slug}`, whatever is stored.
    """
    definition = post_types.get(type_name)
    if definition is None:
        return f"/{type_name}/{{slug}}"
    rows = _PATTERN.rows(type_name, locale)
    return str(rows[0]["pattern"]) if rows else definition.url_pattern


def patterns_of(type_name: str) -> list[str]:
    """The patterns that a type's paths follow, in the order of the locales, each once. One query.

    Raises `RuleViolation` for a type that does not exist.
    """
    stored = UrlPattern.objects.filter(type=type_name, is_removed=False)
    by_locale = dict(stored.values_list("locale", "pattern"))
    own = find_post_type(type_name).url_pattern
    return list(dict.fromkeys(by_locale.get(locale, own) for locale in settings.CMS_ENV.locales))


def path_for(post: Post, pattern: str | None = None) -> str:
    """The path of a post: the default locale without prefix, others with theirs; none of a variation."""
    if post.variation_of_id is not None:
        return ""
    # The slugs from the root down to the post.
    slugs = [post.slug]
    ancestor, depth = post.parent, 0
    while ancestor is not None and depth < MAX_DEPTH:
        slugs.insert(0, ancestor.slug)
        ancestor, depth = ancestor.parent, depth + 1
    return fill_pattern(pattern or pattern_of(post.type, post.locale), post, slugs)


def fill_pattern(pattern: str, post: Post, slugs: Sequence[str]) -> str:
    """The path by a pattern; `slugs` lead from the root down to the post. `/{locale}` at its start is the prefix."""
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
    if len(path) > _LONGEST:
        raise invalid(
            "slug",
            _("The address would be longer than %(longest)s characters.")
            % {"longest": f"{_LONGEST:,}"},
        )
    prefix = "" if post.locale == settings.CMS_ENV.default_locale else f"/{post.locale}"
    if path == f"/{HOME_SLUG}" and post.parent_id is None:
        return f"{prefix}/"
    return prefix + path


def slugs_in(tree: Tree, post: Post) -> list[str]:
    """The slugs from the root down to the post, without a query."""
    slugs, parent, depth = [post.slug], post.parent_id, 0
    while parent is not None and parent in tree and depth < MAX_DEPTH:
        slug, above = tree[parent]
        slugs.insert(0, slug)
        parent, depth = above, depth + 1
    return slugs


def set_path(post: Post, path: str) -> list[Move]:
    """Give the post its path, unsaved; the move, if it is one. A canonical address that was its own stays its own."""
    before, post.path = post.path, path
    if before == path:
        return []
    if before and post.canonical_url == absolute(before):
        post.canonical_url = absolute(path)
    return [Move(post, before)]


def save_paths(posts: Sequence[Post]) -> None:
    """Store what `set_path` set."""
    Post.objects.bulk_update(posts, ["path"])
    Post.objects.bulk_update([post for post in posts if post.canonical_url], ["canonical_url"])


def actor_of_move(changed_by: User | None) -> Actor | None:
    """Whoever changed what posts follow; where that account is gone, the first active admin."""
    user = changed_by or first_admin()
    return Actor(user=user, via="system") if user is not None else None


def record_moves(moves: Sequence[Move], actor: Actor, *, recorded: Collection[UUID] = ()) -> None:
    """Record each changed path, and that the post changed unless it is in the trash or in `recorded`.

    `recorded` are posts whose change the caller records itself. Call only after every row is locked: the content
    version is locked from here on.
    """
    things: list[tuple[UUID, JsonObject]] = [
        (
            move.post.pk,
            {
                "id": str(move.post.pk),
                "locale": move.post.locale,
                "from": move.before,
                "to": move.post.path,
            },
        )
        for move in moves
    ]
    outbox.record_all("post.moved", things, actor=actor)
    changed = [move.post for move in moves if move.post.pk not in recorded]
    record_indirect_updates(
        {post: _address_paths(post) for post in changed if post.deleted_at is None}, actor
    )


def _address_paths(post: Post) -> list[str]:
    # A canonical address that was the post's own has followed it.
    is_own = post.canonical_url == absolute(post.path)
    return ["post.url", "post.canonicalUrl"] if is_own else ["post.url"]


def check_paths_are_free(posts: Iterable[Post], actor: Actor) -> None:
    """Raise `RuleViolation` on `slug` where the path of one of these is another's: a post's that is not in the
    trash, or no page's at all."""
    shown = [post for post in posts if post.path and post.deleted_at is None]
    for post in shown:
        refuse_reserved("slug", post)
    wanted = {post.path: post.pk for post in shown}
    for other in find_posts_at(wanted):
        if wanted[other.path] != other.pk:
            raise path_taken("slug", other, actor)


def refuse_reserved(field: str, post: Post) -> None:
    """Raise `RuleViolation` where the path of a post is below what answers before any page does."""
    is_default = post.locale == settings.CMS_ENV.default_locale
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
    """The posts at these paths that are not in the trash."""
    listed = sorted(paths)
    for start in range(0, len(listed), _AT_A_TIME):
        for row in _AT_PATHS.rows(listed[start : start + _AT_A_TIME]):
            yield instance_from_row(Post, row)


def path_taken(field: str, other: Post, actor: Actor) -> RuleViolation:
    """The refusal of an address that another post has: which one, for those who may see it."""
    if not sees(actor, other):
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
