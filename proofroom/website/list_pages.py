"""The pages that list the posts of a type, newest first: `PostType.index_path` says where.

Below each is a page for every term of its taxonomies: `/blog/topics/coffee`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext

from proofroom.core.caching.outlines import render_page
from proofroom.core.site_urls import PageLocation
from proofroom.definitions.listings import IndexPage, list_title
from proofroom.website.meta_tags import seo_of_list, title_with_site
from proofroom.website.navigation import Alternate, Crumb, alternates, breadcrumb
from proofroom.website.page_frame import (
    Surroundings,
    build_page_context,
    feeds_of,
    load_surroundings,
    page_links,
    use_template_language,
)
from proofroom.website.queries import (
    Extent,
    PostSummary,
    count_pages_by_locale,
    load_listed_posts,
)

PER_PAGE: Final = 12
LIST_STYLESHEETS: Final = ["cms/modules/post-lists.css", "cms/site/lists.css"]


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a listing, 1 being the newest. `extents` are of every locale that has posts for it."""

    listing: IndexPage
    number: int
    last: int
    extents: Mapping[str, Extent]
    posts: list[PostSummary]
    around: Surroundings

    @property
    def title(self) -> str:
        return self.extents[self.listing.locale].term_name or self.list_title

    @property
    def list_title(self) -> str:
        """In the language that is active."""
        return list_title(self.listing.type)

    @property
    def full_title(self) -> str:
        """Such that no other page has it: `Coffee · Blog (2)`."""
        named = f"{self.title} · {self.list_title}" if self.listing.term else self.title
        return f"{named} ({self.number})" if self.number > 1 else named

    @property
    def description(self) -> str:
        sentence = gettext("%(title)s: all posts published by %(site)s, newest first.")
        return sentence % {"title": self.full_title, "site": self.around.site_name}

    @property
    def crumbs(self) -> list[Crumb]:
        place = PageLocation(self.listing.path, self.listing.locale)
        return breadcrumb(place, self.title, self.around.neighbours)

    @property
    def languages(self) -> list[Alternate]:
        here = self.listing
        paths = {
            other: IndexPage(here.type, other, here.taxonomy, here.term).path
            for other in self.extents
        }
        return alternates(PageLocation(here.path, here.locale), paths)

    def url(self, number: int) -> str:
        """Of another page; empty where there is none."""
        if not 1 <= number <= self.last:
            return ""
        path = self.listing.path
        return path if number == 1 else f"{path}?page={number}"


def load_list_page(listing: IndexPage, number: int, version: int | None = None) -> ListPage | None:
    """A page of a listing; None past the last, and where nothing is published. Two queries, and its surroundings."""
    found = count_pages_by_locale(listing)
    here = found.get(listing.locale)
    last = -(-here.posts // PER_PAGE) if here else 0
    if not 1 <= number <= last:
        return None
    posts = load_listed_posts(listing, (number - 1) * PER_PAGE, PER_PAGE)
    place = PageLocation(listing.path, listing.locale)
    around = load_surroundings(place, version=version)
    return ListPage(listing, number, last, found, posts, around)


def list_page(listing: IndexPage, number: int, version: int | None = None) -> str | None:
    """A page of a listing as HTML; None where there is none. As many queries as `load_list_page`."""
    part = load_list_page(listing, number, version)
    if part is None:
        return None
    with use_template_language(listing.locale):
        crumbs, languages = part.crumbs, part.languages
        seo = seo_of_list(
            title_with_site(part.full_title, part.around.site_name),
            listing.path,
            description=part.description,
            crumbs=crumbs,
            alternates=languages,
            number=number,
        )
        cards = [
            {
                "title": post.title,
                "url": post.path,
                "excerpt": post.excerpt,
                # As on its own page: no other type is dated there.
                "published_at": post.published_at if listing.type == "blog" else None,
                "image": post.image,
            }
            for post in part.posts
        ]
        context = build_page_context(part.around, crumbs, alternates=languages) | {
            "seo": seo,
            "feeds": feeds_of(part.around, listing.type),
            "page_title": part.title,
            "posts": cards,
            "stylesheets": LIST_STYLESHEETS,
            "pages": page_links(number, part.last, part.url),
        }
        return render_page("site/list.html", context)
