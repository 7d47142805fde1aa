"""References to a post by clients: its id, an address of the site, or `type/locale/slug`."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from content.document.contents import inside_path
from content.models import Draft, Post, Status
from content.store.post_queries import reachable_posts
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.validation.input_validation import parse_uuid

REFERENCE_MAX: Final = 2_000
_MAX_NAMED: Final = 5
"""Maximum number of posts that an error for an ambiguous reference names."""
_MAX_READ: Final = 50
_ADMIN_PAGE: Final = re.compile(r"/admin/content/post/([0-9a-fA-F-]{36})(?:/|$)")
_SLUG: Final = re.compile(r"[^/\s]+/[^/\s]+/[^/\s]+")


def find_post_id(reference: UUID | str, actor: Actor) -> UUID:
    """Return the id of the post that a reference means. No query for an id, which is not looked up; else one.

    A published post comes before others at the same address. Raises `NotFound` (`unknown_post`) if the text is no
    reference or the actor may view no such post, and `RuleViolation` (`ambiguous_post`) for several.
    """
    id_ = parse_uuid(reference)
    if id_ is not None:
        return id_
    value = str(reference).strip()
    path = _path_in(value)
    if path and (in_admin := _ADMIN_PAGE.match(path)):
        id_ = parse_uuid(in_admin[1])
        if id_ is not None:
            return id_
    if not path and not _SLUG.fullmatch(value):
        message = _(
            "%(reference)s is no ID of a post, no address of this site such as /blog/x, and no type/locale/slug."
        ) % {"reference": repr(value[:200])}
        raise NotFound(message, code="unknown_post")
    found = _posts_at(path) if path else _posts_named(value)
    columns = visible_to(found, actor).values_list("pk", "path", "status", "is_placeholder")
    rows = list(columns.order_by("path", "pk")[:_MAX_READ])
    if not rows:
        message = _("No post is at %(reference)s.") % {"reference": value[:200]}
        raise NotFound(message, code="unknown_post")
    published = [row for row in rows if row[2] == Status.PUBLISHED and not row[3]]
    chosen = published if path and published else rows
    if len(chosen) > 1:
        named = ", ".join(f"{row[0]} ({row[1]})" for row in chosen[:_MAX_NAMED])
        message = _("Several posts are at %(reference)s: %(posts)s. Send the ID of one.") % {
            "reference": value[:200],
            "posts": named,
        }
        raise RuleViolation(message, code="ambiguous_post", details={"post": [message]})
    return chosen[0][0]


def _path_in(value: str) -> str:
    """Return the canonical path if the text is an address of the site; else an empty text."""
    # PostgreSQL refuses NUL in parameters, and no path contains one.
    return inside_path(value.strip()) if "\x00" not in value else ""


def _posts_at(path: str) -> QuerySet[Post]:
    return reachable_posts().filter(path=path, variation_of=None)


def _posts_named(value: str) -> QuerySet[Post]:
    """Return the posts of a type and locale with a slug, which for a post that waits for its first approval is the
    proposed one."""
    type_, locale, slug = value.split("/")
    proposed = Draft.objects.filter(
        is_empty=False, post__is_placeholder=True, document__post__slug=slug
    )
    named = Q(is_placeholder=False, slug=slug) | Q(pk__in=proposed.values("post_id"))
    return reachable_posts().filter(named, type=type_, locale=locale, variation_of=None)
