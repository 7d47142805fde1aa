"""Pages that list the posts of a type, newest first, at `PostType.index_path`.

Below each is a page for every term of its taxonomies: `/blog/topics/coffee`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.template.loader import render_to_string
from django.utils.translation import gettext

from proofroom.core.caching.content_memo import memoize_by_content
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.site_urls import PageLocation
from proofroom.definitions.listings import LIST_PAGE_SIZE, IndexPage, list_title
from proofroom_apps.website.meta_tags import first_words, list_seo, title_with_site
from proofroom_apps.website.navigation import Alternate, Crumb, alternates, breadcrumb
from proofroom_apps.website.page_frame import (
    PageChrome,
    build_page_context,
    feeds_of,
    load_surroundings,
    page_links,
    page_template,
    use_template_language,
)
from proofroom_apps.website.queries import (
    Extent,
    Extents,
    ListedPosts,
    load_extents,
    load_listed_page,
)

LIST_STYLESHEETS: Final = ["cms/modules/post-lists.css", "cms/site/lists.css"]


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a listing; 1 is the newest. `extents` has every locale with posts for it."""

    listing: IndexPage
    number: int
    last: int
    extents: Extents
    listed: ListedPosts
    around: PageChrome

    @property
    def title(self) -> str:
        return self.extents[self.listing.locale].term_name or self.list_title

    @property
    def list_title(self) -> str:
        """Title of the list, in the active language."""
        return list_title(self.listing.type)

    @property
    def full_title(self) -> str:
        """Unique title of the page, such as `Coffee · Blog (2)`."""
        named = f"{self.title} · {self.list_title}" if self.listing.term else self.title
        return f"{named} ({self.number})" if self.number > 1 else named

    @property
    def intro(self) -> str:
        """Description of the term, on the first page."""
        return self.extents[self.listing.locale].term_description if self.number == 1 else ""

    @property
    def description(self) -> str:
        if self.intro:
            return first_words(self.intro)
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

    @property
    def contents(self) -> dict[str, object] | None:
        """All data of the page, as the key of its cached HTML; None if the site's frame is not known."""
        if self.around.frame is None:
            return None
        return {
            "listing": self.listing,
            "number": self.number,
            "extents": self.extents,
            "listed": self.listed.content,
            "frame": self.around.frame.content,
            "linked": self.around.linked.neighbours,
        }

    def url(self, number: int) -> str:
        """Return the address of another page; empty if it does not exist."""
        if not 1 <= number <= self.last:
            return ""
        path = self.listing.path
        return path if number == 1 else f"{path}?page={number}"


def load_list_page(
    listing: IndexPage, number: int, state: LiveState | None = None
) -> ListPage | None:
    """Return a page of a listing. None past the last page, if nothing is published, or if a post has its address.

    As many queries as `load_listed_page`, plus the surroundings; one more for a page other than the first.
    """
    # A statement is compiled for each page number, so check first that the page exists.
    if number > 1 and number > _last_page(load_extents(listing, state).get(listing.locale)):
        return None
    found = load_listed_page(listing, (number - 1) * LIST_PAGE_SIZE, LIST_PAGE_SIZE, state)
    if found is None:
        return None
    last = _last_page(found.extents[listing.locale])
    place = PageLocation(listing.path, listing.locale)
    around = load_surroundings(place, state=state)
    return ListPage(listing, number, last, found.extents, found.listed, around)


def _last_page(extent: Extent | None) -> int:
    # Ceiling division.
    return -(-extent.posts // LIST_PAGE_SIZE) if extent is not None else 0


def list_page(listing: IndexPage, number: int, state: LiveState | None = None) -> str | None:
    """Return a page of a listing as HTML, or None if it does not exist. As many queries as `load_list_page`."""
    part = load_list_page(listing, number, state)
    if part is None:
        return None
    if part.contents is None:
        return _render(part)
    return memoize_by_content(
        page_template("site/list.html"), part.contents, lambda: _render(part), text_of=str
    )


def _render(part: ListPage) -> str:
    listing, number = part.listing, part.number
    with use_template_language(listing.locale):
        crumbs, languages = part.crumbs, part.languages
        seo = list_seo(
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
                # Only blog posts show a date, as on their own page.
                "published_at": post.published_at if listing.type == "blog" else None,
                "image": post.image,
            }
            for post in part.listed.posts
        ]
        context = build_page_context(part.around, crumbs, alternates=languages) | {
            "seo": seo,
            "feeds": feeds_of(part.around, listing.type),
            "page_title": part.title,
            "intro": part.intro,
            "posts": cards,
            "stylesheets": LIST_STYLESHEETS,
            "pages": page_links(number, part.last, part.url),
        }
        return render_to_string("site/list.html", context)
