"""Tools that find published posts whose live content should be improved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol, TypeVar, cast
from uuid import UUID

from pydantic import Field

from content.models import Post
from content.post_checks.audit import (
    MAX_FOUND,
    DeadLinkFound,
    FailingPost,
    PostFilter,
    find_dead_links,
    find_failing_posts,
)
from content.tools.arguments import PostReference, require_known_filters, require_post
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import CursorPaged, list_of, open_cursor, seal_cursor
from proofroom.core.validation.limits import LOCALE_MAX

CheckNames = Annotated[list[str], Field(max_length=50)]


class AuditPosts(CursorPaged):
    checks: CheckNames = []
    type: str | None = Field(None, max_length=80)
    locale: str | None = Field(None, max_length=LOCALE_MAX)


class CheckLinks(CursorPaged):
    post: PostReference | None = None
    type: str | None = Field(None, max_length=80)
    locale: str | None = Field(None, max_length=LOCALE_MAX)


class AuditRow(Result):
    """`value`: what failed, empty if it is missing."""

    check: str
    post: str
    url: str
    title: str
    value: str
    message: str
    path: str | None = None


class AuditRows(Result):
    """`nextCursor` is present if posts remain to be read, even on a page without items."""

    items: list[AuditRow]
    next_cursor: str | None = None


class DeadLinkRow(Result):
    """`status`: the HTTP status, null if the other site did not answer."""

    post: str
    path: str
    href: str
    status: int | None


class DeadLinkRows(Result):
    """`nextCursor` is present if posts remain to be read, even on a page without items."""

    items: list[DeadLinkRow]
    next_cursor: str | None = None


@tool(
    title="Audit posts",
    kind="read",
    permission="posts.view",
    group="posts",
    result=AuditRows,
    waits=True,
)
def audit_posts(actor: Actor, arguments: AuditPosts) -> JsonObject:
    """Find failures in published posts with the value that fails, by check (seoTitle, seoDescription, altText,
    orphan …); all without checks."""
    require_known_filters(arguments.type, arguments.locale)
    place = _Place.of(arguments, "audit_posts")
    page = find_failing_posts(
        actor=actor,
        checks=arguments.checks,
        posts=PostFilter(arguments.type or "", arguments.locale or ""),
        limit=place.read_limit,
        cursor=place.after,
    )
    found, cursor = place.cut(page.failures, page.cursor)
    items: list[Json] = [_audit_row(one) for one in found]
    return {"items": items, **cursor}


@tool(
    title="Check links",
    kind="read",
    permission="posts.view",
    group="posts",
    result=DeadLinkRows,
)
def check_links(actor: Actor, arguments: CheckLinks) -> JsonObject:
    """Find dead links in live content: within the site now, to other sites by the last check in the background."""
    require_known_filters(arguments.type, arguments.locale)
    ids = [require_post(arguments.post, actor).pk] if arguments.post else []
    place = _Place.of(arguments, "check_links")
    page = find_dead_links(
        actor=actor,
        posts=PostFilter(arguments.type or "", arguments.locale or "", ids),
        limit=place.read_limit,
        cursor=place.after,
    )
    found, cursor = place.cut(page.links, page.cursor)
    items: list[Json] = [_link_row(one) for one in found]
    return {"items": items, **cursor}


def _audit_row(one: FailingPost) -> JsonObject:
    row: JsonObject = {
        "check": one.check,
        "post": str(one.post.pk),
        "url": one.post.path,
        "title": one.post.title,
        "value": one.failure.value,
        "message": one.failure.message,
    }
    return {**row, "path": one.failure.path} if one.failure.path else row


def _link_row(one: DeadLinkFound) -> JsonObject:
    return {
        "post": str(one.post.pk),
        "path": one.path,
        "href": one.href,
        "status": one.status,
    }


class _OfPost(Protocol):
    @property
    def post(self) -> Post: ...


Found = TypeVar("Found", bound=_OfPost)


class _Place:
    """Where a page begins: after a post, and after the first findings of the next.

    The service never divides a post, whose findings may be more than a page takes.
    """

    def __init__(self, scope: str, limit: int, after: str, skip: int) -> None:
        self._scope = scope
        self._limit = limit
        self.after = after
        self._skip = skip

    @classmethod
    def of(cls, arguments: CursorPaged, name: str) -> _Place:
        scope, after, skip = list_of(arguments, name), "", 0
        if arguments.cursor is not None:
            after, skip = cast("tuple[str, int]", open_cursor(arguments.cursor, of=scope))
        return cls(scope, arguments.limit, after, skip)

    @property
    def read_limit(self) -> int:
        return min(MAX_FOUND, self._limit + self._skip)

    def cut(self, found: Sequence[Found], following: str) -> tuple[Sequence[Found], JsonObject]:
        """Return the findings of this page, and the cursor of the next if there is one.

        `following`: the cursor of the service, empty at the end.
        """
        end = self._skip + self._limit
        if len(found) <= end:
            return found[self._skip :], self._cursor(following, 0) if following else {}
        divided: UUID = found[end].post.pk
        before = [one.post.pk for one in found[:end] if one.post.pk != divided]
        after = str(before[-1]) if before else self.after
        return found[self._skip : end], self._cursor(after, end - len(before))

    def _cursor(self, after: str, skip: int) -> JsonObject:
        return {"nextCursor": seal_cursor([after, skip], of=self._scope)}
