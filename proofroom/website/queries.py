"""Queries of the public site. Published, approved, undeleted posts only, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import Count, Exists, F, JSONField, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from content import search
from content.models import Post, PostModule, PostTerm
from content.posts.queries import module_rows, published_posts, reachable_posts
from content.variations.arms import Arm, arms_in, as_original, running_arms
from media.models import Asset
from proofroom.core.caching.content_tags import depend_on, tag_of_list, tag_of_post
from proofroom.core.caching.version_lease import lease
from proofroom.core.database.json_list import JSONList
from proofroom.core.database.statements import Row, Statement, columns_of, instance_from_row
from proofroom.core.models import ContentVersion
from proofroom.definitions.listings import IndexPage
from proofroom.menus.links import MenuItems
from proofroom.menus.models import Menu
from proofroom.taxonomies.models import Term
from proofroom.website.rendering import RenderableModule

MENUS = ("main", "footer")


@dataclass(frozen=True, slots=True)
class FoundPost:
    """A post to show, with its terms in order and the content version that it was read at.

    `arms` are its running variations, which take visitors from it.
    """

    post: Post
    terms: Sequence[Term]
    version: int
    arms: Sequence[Arm] = ()


_SHOWN: Final = (
    *columns_of(Post),
    *(f"featured_media__{name}" for name in columns_of(Asset)),
)
_VERSION: Final = ContentVersion.objects.filter(pk=1).values("number")
_PAGE: Final = Statement(
    lambda path, locale: (
        _at(path, locale)
        .annotate(
            content_version=Coalesce(Subquery(_VERSION), 0), terms=_terms(), arms=running_arms()
        )
        .values(*_SHOWN, "content_version", "terms", "arms")[:1]
    )
)
_ARM: Final = Statement(
    lambda post_id: (
        reachable_posts()
        .filter(pk=post_id, variation_running=True)
        .annotate(terms=_terms())
        .values(*_SHOWN, "terms")
    )
)
_MODULES: Final = Statement(
    lambda post_id: (
        PostModule.objects.filter(post_id=post_id)
        .order_by("order_index", "id")
        .values("id", "overrides", "instance_id", "instance__type", "instance__props")
    )
)
_TERM_COLUMNS: Final = columns_of(Term)
_MENUS: Final = Statement(
    lambda locale, default: (
        Menu.objects.filter(slug__in=MENUS)
        .filter(Q(locale=locale) | Q(locale=default))
        .values("slug", "locale", "items")
    )
)


def find_post(path: str, locale: str) -> FoundPost | None:
    """The published post at a path. One look-up in the path index."""
    if "\x00" in path:  # PostgreSQL refuses to look for it
        return None
    begun = lease.begin()
    rows = _PAGE.rows(path, locale)
    if not rows:
        return None
    lease.renew(begun, rows[0]["content_version"])
    return FoundPost(
        post=_post(rows[0]),
        terms=_ordered_terms(rows[0]["terms"]),
        version=rows[0]["content_version"],
        arms=arms_in(rows[0]["arms"]),
    )


def find_arm(original: FoundPost, arm: Arm) -> FoundPost | None:
    """A running variation as it is shown in the place of its original. One query; None where it just stopped."""
    rows = _ARM.rows(arm.post_id)
    if not rows:
        return None
    post = as_original(_post(rows[0]), original.post)
    return FoundPost(post, _ordered_terms(rows[0]["terms"]), original.version, original.arms)


def _post(row: Row) -> Post:
    post = instance_from_row(Post, row)
    if post.featured_media_id is not None:
        values = {name: row[f"featured_media__{name}"] for name in columns_of(Asset)}
        post.featured_media = instance_from_row(Asset, values)
    return post


def _terms() -> Subquery:
    """The terms of each post as a list in JSON: what would else be a query of its own."""
    terms = Term.objects.filter(post_terms__post=OuterRef("pk")).order_by()
    return Subquery(terms.values(all=JSONList(*_TERM_COLUMNS)), output_field=JSONField())


def _ordered_terms(rows: Sequence[Sequence[Any]] | None) -> list[Term]:
    terms = []
    for values in rows or ():
        row = dict(zip(_TERM_COLUMNS, values, strict=True))
        ids = {name: row[name] and UUID(row[name]) for name in ("id", "parent_id")}
        terms.append(instance_from_row(Term, {**row, **ids}))
    return sorted(terms, key=lambda term: (term.taxonomy, term.order_index, term.name))


def is_published_at(path: str, locale: str) -> bool:
    """Return whether there is a page to lead visitors to."""
    return _at(path, locale).exists()


def _at(path: str, locale: str) -> QuerySet[Post]:
    # PostgreSQL refuses to look for a NUL, which no path holds.
    posts = published_posts() if "\x00" not in path else Post.objects.none()
    return posts.filter(path=path, locale=locale).order_by("published_at", "id")


def load_modules(post: Post) -> list[RenderableModule]:
    """The live modules in order, the post's overrides on top. One query."""
    depend_on(tag_of_post(post.pk))
    return [
        RenderableModule(
            post_module_id=str(row["id"]),
            type=row["instance__type"],
            props={**row["instance__props"], **(row["overrides"] or {})},
            index=index,
            instance_id=str(row["instance_id"]),
        )
        for index, row in enumerate(_MODULES.rows(post.pk))
    ]


def load_menus(locale: str, default_locale: str) -> dict[str, MenuItems]:
    """The items of the site's menus: of the locale, else of the default one. One query."""
    rows = _MENUS.rows(locale, default_locale)
    found: dict[str, MenuItems] = {}
    for row in sorted(rows, key=lambda row: row["locale"] == locale):
        found[row["slug"]] = row["items"]
    return found


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of posts that a listing has in a locale, and the title of its term there."""

    locale: str
    posts: int
    term_name: str = ""


def count_pages_by_locale(listing: IndexPage) -> dict[str, Extent]:
    """Of the same listing in every locale that has posts for it."""
    depend_on(tag_of_list(listing.type))
    posts = published_posts().filter(type=listing.type).order_by()
    if not listing.term:
        rows = posts.values_list("locale").annotate(posts=Count("pk"))
        return {locale: Extent(locale, number) for locale, number in rows}
    carrying = posts.filter(
        Q(post_terms__term__locale="") | Q(post_terms__term__locale=F("locale")),
        post_terms__term__taxonomy=listing.taxonomy,
        post_terms__term__slug=listing.term,
    )
    named = carrying.values_list("locale").annotate(
        posts=Count("pk", distinct=True), name=Min("post_terms__term__name")
    )
    return {locale: Extent(locale, number, name) for locale, number, name in named}


def list_posts_of(listing: IndexPage) -> QuerySet[Post]:
    """The posts of a listing, newest first."""
    depend_on(tag_of_list(listing.type))
    posts = published_posts().filter(type=listing.type, locale=listing.locale)
    if listing.term:
        carried = PostTerm.objects.filter(
            post=OuterRef("pk"),
            term__taxonomy=listing.taxonomy,
            term__slug=listing.term,
            term__locale__in=("", listing.locale),
        )
        posts = posts.filter(Exists(carried))
    return posts.select_related("featured_media").order_by("-published_at", "id")


def search_published_posts(words: str, locale: str) -> QuerySet[Post]:
    """The posts of a locale that hold all words, the best first."""
    posts = published_posts().filter(locale=locale)
    return search.order_by_rank(search.search_posts(posts, words, locale))


def modules_of(posts: Iterable[Post]) -> dict[str, list[RenderableModule]]:
    """The live modules of posts in order, by the id of the post."""
    found = module_rows([post.pk for post in posts])
    return {
        str(post_id): [
            RenderableModule(
                post_module_id=str(row["id"]),
                type=row["instance__type"],
                props={
                    **orjson.loads(row["props_text"]),
                    **orjson.loads(row["overrides_text"]),
                },
                index=index,
            )
            for index, row in enumerate(rows)
        ]
        for post_id, rows in found.items()
    }
