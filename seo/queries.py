"""Queries of redirects."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from content.models import Post
from content.store.post_queries import published_posts
from proofroom.core.batches import batches
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.errors import NotFound
from proofroom.core.site_urls import canonical_form
from seo.models import Redirect
from seo.redirect_paths import key_of


def _open_redirects() -> QuerySet[Redirect]:
    """Return the active redirects, without those to a post that is not published.

    A post that was unpublished and then renamed would otherwise tell its new slug.
    """
    at_target = Post.objects.alive().filter(path=OuterRef("to_path"))
    is_published = Exists(published_posts().filter(path=OuterRef("to_path")))
    return Redirect.objects.filter(~Exists(at_target) | is_published, is_active=True)


_AT: Final = CompiledQuery(
    lambda key: _open_redirects().filter(from_key=key).values("id", "to_path", "type")
)


@dataclass(frozen=True, slots=True)
class RedirectTarget:
    """The target of a redirect."""

    id: UUID
    to_path: str
    status: int


def target_of(path: str) -> RedirectTarget | None:
    """Return the target of the active redirect at a path; None for an unpublished post. One query."""
    rows = _AT.rows(key_of(canonical_form(path)))
    return RedirectTarget(rows[0]["id"], rows[0]["to_path"], rows[0]["type"]) if rows else None


def followed_redirects() -> QuerySet[Redirect]:
    """Return the redirects of visitors by their source, without those at the address of a published post."""
    shadowing = published_posts().filter(path=OuterRef("from_path"))
    return _open_redirects().filter(~Exists(shadowing)).order_by("from_path", "id")


def targets_of(paths: Collection[str]) -> dict[str, RedirectTarget]:
    """Return the targets of redirects as `target_of` does, by canonical path. One query for 500 paths."""
    by_key = {key_of(path): path for path in paths}
    found: dict[str, RedirectTarget] = {}
    for part in batches(sorted(by_key)):
        rows = _open_redirects().filter(from_key__in=part)
        for row in rows.values("id", "from_key", "to_path", "type"):
            target = RedirectTarget(row["id"], row["to_path"], row["type"])
            found[by_key[row["from_key"]]] = target
    return found


def redirected_paths(paths: Collection[str]) -> set[str]:
    """Return the canonical paths that have an active redirect. One query for 500 paths."""
    by_key = {key_of(path): path for path in paths}
    found: set[str] = set()
    for part in batches(sorted(by_key)):
        rows = Redirect.objects.filter(from_key__in=part, is_active=True)
        found |= {by_key[key] for key in rows.values_list("from_key", flat=True)}
    return found


def find_redirect(redirect_id: UUID | str, rows: QuerySet[Redirect] | None = None) -> Redirect:
    """Return the redirect with this id from `rows`. Raises `NotFound`."""
    try:
        return (Redirect.objects.all() if rows is None else rows).get(pk=UUID(str(redirect_id)))
    except (ValueError, Redirect.DoesNotExist):
        raise NotFound(
            _("No redirect has the ID %(redirect_id)s.") % {"redirect_id": str(redirect_id)[:80]}
        ) from None


def redirects(
    *,
    search: str = "",
    type: int | None = None,
    locale: str | None = None,
    automatic: bool | None = None,
    active: bool | None = None,
) -> QuerySet[Redirect]:
    """Return redirects, latest first; filters with None are ignored."""
    rows = Redirect.objects.order_by("-created_at", "id")
    wanted = {"type": type, "locale": locale, "is_automatic": automatic, "is_active": active}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value is not None})
    if search:
        rows = rows.filter(Q(from_path__icontains=search) | Q(to_path__icontains=search))
    return rows
