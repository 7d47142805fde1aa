"""Queries of lists, feeds and the search page. Published posts only; one query each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import orjson
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet

from content import search
from content.models import Post, PostTerm
from content.posts.queries import module_rows, published_posts
from proofroom.definitions.list_urls import IndexPage
from proofroom.website.rendering import RenderableModule


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of posts that a listing has in a locale, and the title of its term there."""

    locale: str
    posts: int
    term_name: str = ""


def count_pages_by_locale(listing: IndexPage) -> dict[str, Extent]:
    """Of the same listing in every locale that has posts for it."""
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


def search_posts(words: str, locale: str) -> QuerySet[Post]:
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
