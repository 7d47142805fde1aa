"""The posts that a page shows or links to, read in one query: a union of small index scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, IntegerField, OuterRef, QuerySet, TextField, Value

from content.models import Post, PostTerm
from content.store.opening_images import NO_MODULE, opening_module
from content.store.post_queries import listed_posts, published_posts
from proofroom.core.database.compiled_queries import Argument, CompiledQuery, Row
from proofroom.definitions import MOST_LISTED, PostList

MAX_LISTS: Final = 50
"""Maximum number of different lists on one page. Further lists stay empty."""
_COLUMNS: Final = (
    "id",
    "type",
    "locale",
    "title",
    "path",
    "translation_group",
    "status",
    "is_placeholder",
    "excerpt",
    "published_at",
    "featured_media_id",
    "custom_fields",
)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The data of another post that a link to it needs."""

    id: str
    locale: str
    title: str
    path: str
    group: UUID
    is_published: bool


@dataclass(frozen=True, slots=True)
class LinkedPostsRequest:
    """The posts that a page needs.

    `paths`: posts at these paths. `group`: posts of this translation group. `post_ids`: these posts with their
    translation into `locale`. `lists`: lists of the newest posts in `locale`.
    """

    locale: str
    paths: Sequence[str] = ()
    group: UUID | None = None
    post_ids: Sequence[UUID] = ()
    lists: Sequence[PostList] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """The posts that were found.

    `neighbours` includes unpublished posts of the requested ids, which are only used to find translations.
    `referenced`: the published post in the page's locale, by requested id.
    """

    neighbours: Sequence[Neighbour] = ()
    referenced: Mapping[str, Row] = field(default_factory=dict)
    listed: Mapping[PostList, Sequence[Row]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ListRead:
    """One read for all lists of the same type and terms, because the longest list contains the others."""

    limit: int
    type: str
    terms: tuple[UUID, ...] | None


def load_linked_posts(asked: LinkedPostsRequest) -> Linked:
    """Read the posts. One query, none for an empty request."""
    lists = _merge_lists(asked.lists)
    parts, arguments = _union_parts(asked, list(lists.values()))
    if not parts:
        return Linked()
    rows = _statement(parts).rows(*arguments)
    # Several parts of the union can return the same post, and a union has no order.
    linked = {row["id"]: row for row in rows if row["part"] < 0}
    ordered = sorted(linked.values(), key=lambda row: (str(row["published_at"]), str(row["id"])))
    newest = {
        key: sorted(
            (row for row in rows if row["part"] == place),
            key=lambda row: (
                -row["published_at"].timestamp() if row["published_at"] else 0.0,
                str(row["id"]),
            ),
        )
        for place, key in enumerate(lists)
    }
    # Only translations published in the page's locale. Other requested posts are not shown.
    in_locale = {
        row["translation_group"]: row
        for row in linked.values()
        if row["locale"] == asked.locale and _is_published(row)
    }
    found = {id_: linked.get(id_) for id_ in asked.post_ids}
    return Linked(
        neighbours=[
            Neighbour(
                id=str(row["id"]),
                locale=row["locale"],
                title=row["title"],
                path=row["path"],
                group=row["translation_group"],
                is_published=_is_published(row),
            )
            for row in ordered
        ],
        referenced={
            str(id_): in_locale[row["translation_group"]]
            for id_, row in found.items()
            if row is not None and row["translation_group"] in in_locale
        },
        listed={
            wanted: newest[_list_key(wanted)][: wanted.limit]
            for wanted in asked.lists
            if _list_key(wanted) in newest and wanted.limit > 0
        },
    )


def _list_key(wanted: PostList) -> tuple[str, tuple[str, ...]]:
    # Order and repetition of terms make no difference.
    return wanted.type, tuple(sorted(set(wanted.term_ids)))


def _merge_lists(lists: Iterable[PostList]) -> dict[tuple[str, tuple[str, ...]], _ListRead]:
    """Return one read per type and terms. Lists with invalid terms are omitted."""
    found: dict[tuple[str, tuple[str, ...]], _ListRead] = {}
    for post_list in lists:
        key = _list_key(post_list)
        terms: tuple[UUID, ...] | None = None
        if post_list.term_ids:
            terms = ()
            for text in key[1]:
                with suppress(ValueError):
                    terms += (UUID(text),)
        limit = min(post_list.limit, MOST_LISTED)
        # No type contains NUL, for which PostgreSQL raises an error.
        if limit < 1 or terms == () or "\x00" in post_list.type:
            continue
        if key in found:
            limit = max(limit, found[key].limit)
        elif len(found) >= MAX_LISTS:
            continue
        found[key] = _ListRead(limit, post_list.type, terms)
    return found


Part = tuple[str, int, bool]
"""Kind of a part of the union; for a list also its limit and whether it is limited to terms."""


def _union_parts(
    request: LinkedPostsRequest, lists: Sequence[_ListRead]
) -> tuple[tuple[Part, ...], list[Argument]]:
    """Return the parts of the union and their arguments in order."""
    parts: list[Part] = []
    arguments: list[Argument] = []
    paths = [path for path in request.paths if "\x00" not in path]
    if paths:
        parts.append(("paths", 0, False))
        arguments.append(paths)
    if request.group is not None:
        parts.append(("group", 0, False))
        arguments.append(request.group)
    if request.post_ids:
        parts.append(("ids", 0, False))
        arguments += [sorted(set(request.post_ids)), request.locale]
    for wanted in lists:
        parts.append(("list", wanted.limit, wanted.terms is not None))
        arguments += [wanted.type, request.locale]
        arguments += [wanted.terms] if wanted.terms is not None else []
    return tuple(parts), arguments


@lru_cache(maxsize=200)
def _statement(parts: tuple[Part, ...]) -> CompiledQuery:
    def union(*arguments: Any) -> QuerySet[Post, Row]:
        rest = iter(arguments)
        found: list[QuerySet[Post, Row]] = []
        place = 0
        for kind, limit, has_terms in parts:
            if kind == "list":
                posts = _newest(next(rest), next(rest), next(rest) if has_terms else None, limit)
                found.append(_rows(posts, place))
                place += 1
            else:
                is_shown = kind == "ids"
                found += [
                    _rows(posts, -1, is_shown=is_shown) for posts in _PART_QUERIES[kind](rest)
                ]
        return found[0].union(*found[1:], all=True) if len(found) > 1 else found[0]

    return CompiledQuery(union)


def _rows(posts: QuerySet[Post], part: int, *, is_shown: bool = True) -> QuerySet[Post, Row]:
    """Return the columns of one part. Posts that are only linked to need no image."""
    rows: QuerySet[Post, Row] = posts.order_by().values(
        *_COLUMNS,
        part=Value(part, IntegerField()),
        opening=opening_module() if is_shown else Value(NO_MODULE, TextField()),
    )
    return rows


def _with_translations(rest: Iterator[Any]) -> list[QuerySet[Post]]:
    ids, locale = next(rest), next(rest)
    groups = listed_posts().filter(pk__in=ids).values("translation_group")
    return [
        listed_posts().filter(pk__in=ids),
        published_posts().filter(locale=locale, translation_group__in=groups),
    ]


_PART_QUERIES: Final[Mapping[str, Callable[[Iterator[Any]], list[QuerySet[Post]]]]] = {
    "paths": lambda rest: [published_posts().filter(path__in=next(rest))],
    "group": lambda rest: [published_posts().filter(translation_group=next(rest))],
    "ids": _with_translations,
}


def _newest(type: str, locale: str, terms: Sequence[UUID] | None, limit: int) -> QuerySet[Post]:
    posts = published_posts().filter(type=type, locale=locale)
    if terms is not None:
        tagged = PostTerm.objects.filter(post=OuterRef("pk"), term_id__in=terms)
        posts = posts.filter(Exists(tagged))
    # In a subquery, because SQLite allows no LIMIT in a part of a union.
    newest = posts.order_by("-published_at", "id").values("pk")[:limit]
    return Post.objects.filter(pk__in=newest)


def _is_published(row: Row) -> bool:
    return row["status"] == "published" and not row["is_placeholder"]
