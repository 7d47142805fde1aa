"""List pages of the site in delivery answers: what list a path shows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NotRequired
from uuid import UUID

from django.db.models import Count
from django.utils import translation
from pydantic import Field
from typing_extensions import TypedDict

from content.api.delivery.posts import IncludedAnswer, SparseListedLivePost
from content.store.list_counts import OF_OWN_LANGUAGE
from content.store.post_queries import published_posts
from proofroom.core.caching.cache_tags import add_cache_tags, term_tag
from proofroom.core.caching.content_tags import depend_on, tag_of_list
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.site_urls import locale_of
from proofroom.definitions.listings import LIST_PAGE_SIZE, IndexPage, list_title, listing_at
from proofroom.taxonomies.models import Term

_PAGE: Final = re.compile(r"(?:^|&)page=([1-9][0-9]{0,7})(?:&|$)", re.ASCII)


class ListTermAnswer(TypedDict):
    """The term that all posts of the list have."""

    id: UUID
    taxonomy: str
    slug: str
    name: str
    description: str


class ListTranslationAnswer(TypedDict):
    """The same list in another language."""

    locale: str
    url: str


class ResolvedListAnswer(TypedDict):
    """A list page. Many paths are resolved without the posts of their lists."""

    type: Literal["list"]
    postType: str
    locale: str
    url: str
    title: str
    term: ListTermAnswer | None
    page: Annotated[int, Field(ge=1)]
    lastPage: Annotated[int, Field(ge=1)]
    perPage: Annotated[int, Field(ge=1)]
    total: Annotated[int, Field(ge=1)]
    translations: list[ListTranslationAnswer]
    posts: NotRequired[
        Annotated[
            list[SparseListedLivePost],
            Field(description="The posts on the page, newest first. Of a single path only."),
        ]
    ]
    included: NotRequired[Annotated[IncludedAnswer, Field(description="With `include`.")]]


@dataclass(frozen=True, slots=True)
class RequestedList:
    """A page of a list."""

    listing: IndexPage
    page: int


def requested_list(path: str, query: str = "") -> RequestedList | None:
    """Return the list page at a canonical path; None if the definitions have none. No query to the database."""
    listing = listing_at(path, locale_of(path))
    if listing is None:
        return None
    found = _PAGE.search(query)
    return RequestedList(listing, int(found[1]) if found else 1)


def find_lists(requested: Mapping[str, RequestedList]) -> dict[str, ResolvedListAnswer]:
    """Return the lists that exist, by path: those with published posts on the page. At most three queries."""
    listings = {one.listing for one in requested.values()}
    depend_on(*(tag_of_list(listing.type) for listing in listings))
    counts = _count(listings)
    terms = _load_terms(listing for listing in listings if listing.term)
    found: dict[str, ResolvedListAnswer] = {}
    for path, one in requested.items():
        listing = one.listing
        by_locale = counts[listing.type, listing.taxonomy, listing.term]
        total = by_locale.get(listing.locale, 0)
        last = -(-total // LIST_PAGE_SIZE)
        if not 1 <= one.page <= last:
            continue
        term = _term_of(listing, terms) if listing.term else None
        if term is not None:
            add_cache_tags(term_tag(term["id"]))
        found[path] = {
            "type": "list",
            "postType": listing.type,
            "locale": listing.locale,
            "url": listing.path,
            "title": term["name"] if term is not None else _title_of(listing),
            "term": term,
            "page": one.page,
            "lastPage": last,
            "perPage": LIST_PAGE_SIZE,
            "total": total,
            "translations": [
                {
                    "locale": locale,
                    "url": IndexPage(listing.type, locale, listing.taxonomy, listing.term).path,
                }
                for locale in sorted(by_locale)
                if locale != listing.locale
            ],
        }
    return found


_COUNTS: Final = CompiledQuery(
    lambda types: (
        published_posts()
        .filter(type__in=types)
        .order_by()
        .values("type", "locale")
        .annotate(posts=Count("pk"))
    )
)
_COUNTS_OF_TERMS: Final = CompiledQuery(
    lambda types, taxonomies, slugs: (
        published_posts()
        .filter(
            OF_OWN_LANGUAGE,
            type__in=types,
            post_terms__term__taxonomy__in=taxonomies,
            post_terms__term__slug__in=slugs,
        )
        .order_by()
        .values("type", "post_terms__term__taxonomy", "post_terms__term__slug", "locale")
        .annotate(posts=Count("pk", distinct=True))
    )
)
_TERMS: Final = CompiledQuery(
    lambda taxonomies, slugs: (
        Term.objects.filter(taxonomy__in=taxonomies, slug__in=slugs)
        .order_by("locale")
        .values("id", "taxonomy", "slug", "name", "description", "locale")
    )
)


def _count(
    listings: Iterable[IndexPage],
) -> defaultdict[tuple[str, str, str], dict[str, int]]:
    """Return the numbers of posts by type, taxonomy and term, then by language. At most two queries."""
    found = defaultdict[tuple[str, str, str], dict[str, int]](dict)
    whole = sorted({listing.type for listing in listings if not listing.term})
    of_terms = [listing for listing in listings if listing.term]
    for row in _COUNTS.rows(whole):
        found[row["type"], "", ""][row["locale"]] = row["posts"]
    if of_terms:
        rows = _COUNTS_OF_TERMS.rows(
            sorted({listing.type for listing in of_terms}),
            sorted({listing.taxonomy for listing in of_terms}),
            sorted({listing.term for listing in of_terms}),
        )
        for row in rows:
            taxonomy, slug = row["post_terms__term__taxonomy"], row["post_terms__term__slug"]
            found[row["type"], taxonomy, slug][row["locale"]] = row["posts"]
    return found


def _load_terms(
    listings: Iterable[IndexPage],
) -> dict[tuple[str, str, str], ListTermAnswer]:
    """Return the terms of lists by taxonomy, slug and language. One query, none without a list of a term."""
    wanted = list(listings)
    if not wanted:
        return {}
    rows = _TERMS.rows(
        sorted({listing.taxonomy for listing in wanted}),
        sorted({listing.term for listing in wanted}),
    )
    return {
        (row["taxonomy"], row["slug"], row.pop("locale")): {
            "id": row["id"],
            "taxonomy": row["taxonomy"],
            "slug": row["slug"],
            "name": row["name"],
            "description": row["description"],
        }
        for row in rows
    }


def _term_of(
    listing: IndexPage, terms: Mapping[tuple[str, str, str], ListTermAnswer]
) -> ListTermAnswer | None:
    """Return the term of a list: that of its language, or else of every language."""
    of_language = terms.get((listing.taxonomy, listing.term, listing.locale))
    return of_language or terms.get((listing.taxonomy, listing.term, ""))


def _title_of(listing: IndexPage) -> str:
    """Return the title of a type's list in the language of the list."""
    with translation.override(listing.locale):
        return list_title(listing.type)
