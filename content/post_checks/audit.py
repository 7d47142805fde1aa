"""Checks of many posts: failures in the live content of published posts, page by page.

Each call reads a limited number of posts, whatever it finds, and returns a cursor to continue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from content.document.contents import inside_path
from content.models import CheckedAddress, ContentLink, Post, PostModule
from content.post_checks.context import CheckContext, find_unserved
from content.post_checks.external_links import is_dead
from content.post_checks.registry import Failure, PostCheck, levels_of, list_checks
from content.store import post_repository
from content.store.post_queries import listed_posts, published_posts
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import invalid
from proofroom.core.validation.input_validation import parse_uuid

MAX_FOUND: Final = 100
MAX_POSTS_READ: Final = 400
"""Maximum number of posts that one call of `find_failing_posts` reads."""
MAX_POSTS_WITH_LINKS: Final = 2_000
"""Maximum number of posts whose links one call of `find_dead_links` looks up."""
_BATCH: Final = 50
_LINK_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class FailingPost:
    """A failure of a check in a published post."""

    check: str
    post: Post
    failure: Failure


@dataclass(frozen=True, slots=True)
class DeadLinkFound:
    """A link of a published post that leads nowhere. `status`: HTTP status, None if the address did not answer.

    `path`: place in the post; for a link of a global module the path of the module.
    """

    post: Post
    path: str
    href: str
    status: int | None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of failures. `cursor` continues after it, empty at the end. `read`: number of posts that were read."""

    failures: Sequence[FailingPost]
    cursor: str
    read: int


@dataclass(frozen=True, slots=True)
class DeadLinkPage:
    """A page of dead links. `cursor` continues after it, empty at the end."""

    links: Sequence[DeadLinkFound]
    cursor: str


@dataclass(frozen=True, slots=True)
class PostFilter:
    """The posts to read: published ones, or these. Empty values match all."""

    type: str = ""
    locale: str = ""
    ids: Collection[UUID] = field(default=())

    def posts(self, actor: Actor, cursor: str) -> QuerySet[Post]:
        """Return the matching posts that the actor may view, after the cursor. Raises `RuleViolation` on `cursor`."""
        rows = visible_to(listed_posts() if self.ids else published_posts(), actor)
        if self.type:
            rows = rows.filter(type=self.type)
        if self.locale:
            rows = rows.filter(locale=self.locale)
        if self.ids:
            rows = rows.filter(pk__in=self.ids)
        if cursor:
            after = parse_uuid(cursor)
            if after is None:
                raise invalid("cursor", _("Send the cursor of the page before."))
            rows = rows.filter(pk__gt=after)
        return rows.order_by("pk")


def find_failing_posts(
    *,
    actor: Actor,
    checks: Iterable[str],
    posts: PostFilter = PostFilter(),
    limit: int = 20,
    cursor: str = "",
) -> AuditPage:
    """Return failures of checks in published posts, in the order of the posts' ids.

    A post's failures are on one page, so a page can have more than `limit`. Checks that are off for a type are
    skipped. Raises `RuleViolation` on `checks` for an unknown name.
    """
    actor.require("posts.view")
    chosen = _checks_named(checks)
    _check_limit(limit)
    found: list[FailingPost] = []
    read = 0
    for part in _batches(posts.posts(actor, cursor), _BATCH, MAX_POSTS_READ):
        context = CheckContext(post_repository.load_many(part))
        for subject in context.subjects:
            levels, read = levels_of(subject.post.type), read + 1
            for check in chosen:
                if levels[check.name] != "off" and check.applies(subject):
                    found += (
                        FailingPost(check.name, subject.post, one)
                        for one in check.failures(subject)
                    )
            if len(found) >= limit:
                return AuditPage(found, str(subject.post.pk), read)
        if read >= MAX_POSTS_READ:
            return AuditPage(found, str(part[-1].pk), read)
    return AuditPage(found, "", read)


def find_dead_links(
    *, actor: Actor, posts: PostFilter = PostFilter(), limit: int = 20, cursor: str = ""
) -> DeadLinkPage:
    """Return links of published posts that lead nowhere, in the order of the posts' ids.

    Addresses of the site are looked up now; for other addresses the last result of the task counts. Reads the
    stored links, not the documents.
    """
    actor.require("posts.view")
    _check_limit(limit)
    found: list[DeadLinkFound] = []
    read = 0
    for part in _batches(posts.posts(actor, cursor), _LINK_BATCH, MAX_POSTS_WITH_LINKS):
        by_post = _links_of(part)
        statuses = _dead_statuses(link for links in by_post.values() for _path, link in links)
        for post in part:
            read += 1
            found += (
                DeadLinkFound(post, path, link.href, statuses[link.key])
                for path, link in by_post.get(post.pk, ())
                if link.key in statuses
            )
            if len(found) >= limit:
                return DeadLinkPage(found, str(post.pk))
        if read >= MAX_POSTS_WITH_LINKS:
            return DeadLinkPage(found, str(part[-1].pk))
    return DeadLinkPage(found, "")


def _links_of(posts: Sequence[Post]) -> dict[UUID, list[tuple[str, ContentLink]]]:
    """Return the links of posts and of their global modules, with paths. Three queries."""
    ids = [post.pk for post in posts]
    kinds = [ContentLink.Kind.PATH, ContentLink.Kind.URL]
    found: dict[UUID, list[tuple[str, ContentLink]]] = defaultdict(list)
    for link in ContentLink.objects.filter(post__in=ids, kind__in=kinds).order_by("pk"):
        if link.post_id is not None:
            found[link.post_id].append((link.path, link))
    placed: dict[UUID, list[tuple[UUID, UUID]]] = defaultdict(list)
    rows = PostModule.objects.filter(post__in=ids, instance__scope="global")
    for module_id, post_id, instance_id in rows.values_list("pk", "post_id", "instance_id"):
        placed[instance_id].append((post_id, module_id))
    shared = ContentLink.objects.filter(module__in=list(placed), kind__in=kinds).order_by("pk")
    for link in shared if placed else ():
        for post_id, module_id in placed[link.module_id] if link.module_id else ():
            found[post_id].append((f"modules.{module_id}.{link.path}"[:300], link))
    return found


def _dead_statuses(links: Iterable[ContentLink]) -> Mapping[str, int | None]:
    """Return the status of links that lead nowhere, by key. A missing page of the site has the status 404."""
    found: dict[str, int | None] = {}
    paths: dict[str, str] = {}
    urls: set[str] = set()
    for link in links:
        if link.kind == ContentLink.Kind.URL:
            urls.add(link.key)
        elif path := inside_path(link.href):
            paths[path] = link.key
    for path in find_unserved(paths):
        found[paths[path]] = 404
    for part in batches(sorted(urls)):
        for address in CheckedAddress.objects.filter(key__in=part):
            if is_dead(address):
                found[address.key] = address.status
    return found


def _batches(rows: QuerySet[Post], size: int, most: int) -> Iterator[list[Post]]:
    """Yield the first posts in batches, each read by its own query."""
    left, after = most, None
    while left > 0:
        part = list((rows.filter(pk__gt=after) if after else rows)[: min(size, left)])
        if part:
            yield part
        if len(part) < size:
            return
        left, after = left - len(part), part[-1].pk


def _checks_named(names: Iterable[str]) -> list[type[PostCheck]]:
    """Return the checks in the order of lists; all for no names."""
    wanted = set(names)
    known = list_checks()
    unknown = sorted(wanted - {check.name for check in known})
    if unknown:
        message = _("There is no check %(name)r. Available: %(known)s.") % {
            "name": unknown[0][:80],
            "known": ", ".join(check.name for check in known),
        }
        raise invalid("checks", message)
    return [check for check in known if not wanted or check.name in wanted]


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_FOUND:
        message = _("limit must be from 1 to %(most)s.") % {"most": MAX_FOUND}
        raise invalid("limit", message)
