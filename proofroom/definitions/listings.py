"""Listings of posts: the base class of listing modules, and the paths of index pages and feeds.

Paths depend on the definitions only, not on what is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext

from proofroom.core.json import Json
from proofroom.core.site_urls import FEED, home_path
from proofroom.definitions.fields import Boolean, ModuleProps, Number, Text, Textarea
from proofroom.definitions.module import Module, PostList
from proofroom.definitions.post_type import post_types

MOST_CARDS = 24
LIST_PAGE_SIZE = 12
"""Posts on one index page."""


class ListingProps(ModuleProps):
    """Common props of listings. A subclass adds `post_ids` (with its type) and `term_id`."""

    heading: str = Text(max_length=160)
    intro: str = Textarea(max_length=600, label="Introduction")
    count: int = Number(
        default=3, minimum=1, maximum=MOST_CARDS, label="How many", help="Of the newest posts."
    )
    show_all_link: bool = Boolean(default=True, label="Link to all of them")
    all_label: str = Text(
        max_length=60, label="Text of that link", help="Leave blank for “See all”."
    )


class Listing(Module):
    """A module that shows posts of `post_type` as cards: the ones in `post_ids`, in order, or else the newest."""

    post_type: ClassVar[str]
    stylesheet: ClassVar[str] = "cms/modules/post-lists.css"
    Props: ClassVar[type[ModuleProps]] = ListingProps

    @classmethod
    def lists(cls, props: Mapping[str, Json]) -> Iterable[PostList]:
        post_list = cls._newest(props)
        return () if post_list is None else (post_list,)

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return `cards`, and the URL of the type's index page."""
        path = list_path(cls.post_type, str(context.get("locale"))) if props["showAllLink"] else ""
        return {"cards": cls._cards(props, context), "all_url": path}

    @classmethod
    def _cards(cls, props: Mapping[str, Json], context: Mapping[str, object]) -> Sequence[object]:
        post_list = cls._newest(props)
        found = context.get("posts" if post_list is None else "lists")
        if not isinstance(found, Mapping):
            return ()
        if post_list is not None:
            listed: Sequence[object] = found.get(post_list, ())
            return listed
        chosen = [found[id_] for id_ in _chosen(props) if id_ in found]
        # Ids of two translations of one post lead to the same card.
        return list({card.id: card for card in chosen if card.type == cls.post_type}.values())

    @classmethod
    def _newest(cls, props: Mapping[str, Json]) -> PostList | None:
        """Return the query for the newest posts; None if posts were chosen."""
        if _chosen(props):
            return None
        count, term = props.get("count"), props.get("termId")
        # A bool is an int in Python, but not a count.
        limit = count if isinstance(count, int) and not isinstance(count, bool) else 3
        terms = (term,) if isinstance(term, str) and term else ()
        return PostList(cls.post_type, min(limit, MOST_CARDS), terms)


def _chosen(props: Mapping[str, Json]) -> list[str]:
    ids = props.get("postIds")
    return (
        [id_ for id_ in ids if isinstance(id_, str)][:MOST_CARDS] if isinstance(ids, list) else []
    )


@dataclass(frozen=True, slots=True)
class IndexPage:
    """An index page: the posts of a type in a locale, newest first. With `term`, only posts with this term."""

    type: str
    locale: str
    taxonomy: str = ""
    term: str = ""

    @property
    def path(self) -> str:
        """The path of the page; empty if the type has no index page."""
        definition = post_types.get(self.type)
        index = definition.index_path if definition else ""
        below = f"/{self.taxonomy}/{self.term}" if self.term else ""
        return f"{home_path(self.locale)}{index}{below}" if index else ""


def list_path(type: str, locale: str) -> str:
    """Return the path of a type's index page; empty if it has none."""
    return IndexPage(type, locale).path


def term_list_path(type: str, locale: str, taxonomy: str, slug: str, term_locale: str) -> str:
    """Return the path of the list of posts of a type with a term; empty if there is none."""
    definition = post_types.get(type)
    is_listed = (
        definition is not None
        and term_locale in ("", locale)
        and any(use.slug == taxonomy for use in definition.taxonomies)
    )
    return IndexPage(type, locale, taxonomy, slug).path if is_listed else ""


def feed_path(type: str, locale: str) -> str:
    """Return the path of a type's feed; empty if it has no index page."""
    path = list_path(type, locale)
    return f"{path}/{FEED}" if path else ""


def feed_at(path: str, locale: str) -> str | None:
    """Return the post type whose feed has this path, or None."""
    if not path.endswith(f"/{FEED}"):
        return None
    return next((type.name for type in post_types if feed_path(type.name, locale) == path), None)


def listing_at(path: str, locale: str) -> IndexPage | None:
    """Return the index page with this path, or None."""
    for definition in post_types:
        top = IndexPage(definition.name, locale)
        if top.path and path == top.path:
            return top
        taxonomy, _, term = path.removeprefix(f"{top.path}/").partition("/")
        if top.path and taxonomy in {use.slug for use in definition.taxonomies}:
            found = IndexPage(definition.name, locale, taxonomy, term)
            if found.path == path and "\x00" not in term:  # PostgreSQL refuses NUL characters
                return found
    return None


def list_title_at(path: str, locale: str) -> str:
    """Return the title of the index page at a path, in the active language; empty if there is none."""
    index = path.removeprefix(home_path(locale))
    types = [type.name for type in post_types if type.index_path and type.index_path == index]
    return list_title(types[-1]) if types else ""


def list_title(type: str) -> str:
    """Return the title of a type's index page, in the active language."""
    definition = post_types.get(type)
    if definition is None:
        return type
    return gettext(definition.list_label or definition.label_plural or definition.label)
