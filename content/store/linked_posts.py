"""The posts that a page shows or links to, in one query: a union of small reads, each by an index."""

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
from proofroom.core.database.statements import Argument, Row, Statement
from proofroom.definitions import MOST_LISTED, PostList

MAX_LISTS: Final = 50
"""Different lists on one page; what is asked for beyond stays empty."""
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
    """Another post that a page may link to, as far as links need it."""

    id: str
    locale: str
    title: str
    path: str
    group: UUID
    is_published: bool


@dataclass(frozen=True, slots=True)
class LinkedPostsRequest:
    """The posts that a page needs: those at paths, those of a translation group, those of ids with their
    translation into its locale, and lists of the newest ones in its locale."""

    locale: str
    paths: Sequence[str] = ()
    group: UUID | None = None
    post_ids: Sequence[UUID] = ()
    lists: Sequence[PostList] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """The posts that were found.

    `neighbours` holds also posts of ids that are not published, which only help to find translations.
    `referenced` has, by the id that was asked for, the published post in the locale of the page.
    """

    neighbours: Sequence[Neighbour] = ()
    referenced: Mapping[str, Row] = field(default_factory=dict)
    listed: Mapping[PostList, Sequence[Row]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The lists of one type and terms, whose longest holds the others."""

    limit: int
    type: str
    terms: tuple[UUID, ...] | None


def load_linked_posts(asked: LinkedPostsRequest) -> Linked:
    """One query, none where nothing is asked for."""
    lists = _wanted(asked.lists)
    parts, arguments = _parts(asked, list(lists.values()))
    if not parts:
        return Linked()
    rows = _statement(parts).rows(*arguments)
    near = {row["id"]: row for row in rows if row["part"] < 0}
    ordered = sorted(near.values(), key=lambda row: (str(row["published_at"]), str(row["id"])))
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
    # The posts of the ids in the locale of the page; nothing of one that is not published in it.
    shown = {
        row["translation_group"]: row
        for row in near.values()
        if row["locale"] == asked.locale and _is_published(row)
    }
    found = {id_: near.get(id_) for id_ in asked.post_ids}
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
            str(id_): shown[row["translation_group"]]
            for id_, row in found.items()
            if row is not None and row["translation_group"] in shown
        },
        listed={
            wanted: newest[_key(wanted)][: wanted.limit]
            for wanted in asked.lists
            if _key(wanted) in newest and wanted.limit > 0
        },
    )


def _key(wanted: PostList) -> tuple[str, tuple[str, ...]]:
    return wanted.type, tuple(sorted(set(wanted.term_ids)))


def _wanted(lists: Iterable[PostList]) -> dict[tuple[str, tuple[str, ...]], _Wanted]:
    """Return what has to be read: nothing for terms that cannot be."""
    found: dict[tuple[str, tuple[str, ...]], _Wanted] = {}
    for asked in lists:
        key = _key(asked)
        terms: tuple[UUID, ...] | None = None
        if asked.term_ids:
            terms = ()
            for text in key[1]:
                with suppress(ValueError):
                    terms += (UUID(text),)
        limit = min(asked.limit, MOST_LISTED)
        if limit < 1 or terms == () or "\x00" in asked.type:
            continue
        if key in found:
            limit = max(limit, found[key].limit)
        elif len(found) >= MAX_LISTS:
            continue
        found[key] = _Wanted(limit, asked.type, terms)
    return found


Part = tuple[str, int, bool]
"""What a part reads; of a list also how many, and whether by terms."""


def _parts(
    asked: LinkedPostsRequest, lists: Sequence[_Wanted]
) -> tuple[tuple[Part, ...], list[Argument]]:
    """The parts of the union, and the arguments that they take, in order."""
    parts: list[Part] = []
    arguments: list[Argument] = []
    paths = [path for path in asked.paths if "\x00" not in path]
    if paths:
        parts.append(("paths", 0, False))
        arguments.append(padded(paths))
    if asked.group is not None:
        parts.append(("group", 0, False))
        arguments.append(asked.group)
    if asked.post_ids:
        parts.append(("ids", 0, False))
        arguments += [padded(sorted(set(asked.post_ids))), asked.locale]
    for wanted in lists:
        parts.append(("list", wanted.limit, wanted.terms is not None))
        arguments += [wanted.type, asked.locale]
        arguments += [padded(wanted.terms)] if wanted.terms is not None else []
    return tuple(parts), arguments


def padded(values: Sequence[Any]) -> list[Any]:
    """As many as the next power of two, the last one repeated: there are few statements then."""
    size = 1 << (len(values) - 1).bit_length()
    return [*values, *[values[-1]] * (size - len(values))]


@lru_cache(maxsize=200)
def _statement(parts: tuple[Part, ...]) -> Statement:
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
                found += [_rows(posts, -1, is_shown=is_shown) for posts in _NEAR[kind](rest)]
        return found[0].union(*found[1:], all=True) if len(found) > 1 else found[0]

    return Statement(union)


def _rows(posts: QuerySet[Post], part: int, *, is_shown: bool = True) -> QuerySet[Post, Row]:
    """The posts of a part. What is only linked to has no picture, so none is looked for."""
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


_NEAR: Final[Mapping[str, Callable[[Iterator[Any]], list[QuerySet[Post]]]]] = {
    "paths": lambda rest: [published_posts().filter(path__in=next(rest))],
    "group": lambda rest: [published_posts().filter(translation_group=next(rest))],
    "ids": _with_translations,
}


def _newest(type: str, locale: str, terms: Sequence[UUID] | None, limit: int) -> QuerySet[Post]:
    posts = published_posts().filter(type=type, locale=locale)
    if terms is not None:
        carried = PostTerm.objects.filter(post=OuterRef("pk"), term_id__in=terms)
        posts = posts.filter(Exists(carried))
    # Within, for SQLite takes no LIMIT in a part of a union.
    newest = posts.order_by("-published_at", "id").values("pk")[:limit]
    return Post.objects.filter(pk__in=newest)


def _is_published(row: Row) -> bool:
    return row["status"] == "published" and not row["is_placeholder"]
