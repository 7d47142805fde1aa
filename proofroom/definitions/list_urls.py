"""Addresses of the pages that list posts, and of their feeds: by the definitions alone, whatever is published."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from proofroom.core.site_urls import FEED, home_of
from proofroom.definitions.post_type import post_types


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The posts of a type in a locale, newest first; with `term`, those that carry this term of a taxonomy."""

    type: str
    locale: str
    taxonomy: str = ""
    term: str = ""

    @property
    def path(self) -> str:
        """Empty where the type has no page that lists it."""
        definition = post_types.get(self.type)
        index = definition.index_path if definition else ""
        below = f"/{self.taxonomy}/{self.term}" if self.term else ""
        return f"{home_of(self.locale)}{index}{below}" if index else ""


def list_path(type: str, locale: str) -> str:
    """The path of the page that lists a type; empty where the type has none."""
    return IndexPage(type, locale).path


def feed_path(type: str, locale: str) -> str:
    """The path of the feed of a type; empty where nothing lists the type."""
    path = list_path(type, locale)
    return f"{path}/{FEED}" if path else ""


def feed_at(path: str, locale: str) -> str | None:
    """The post type whose feed has that path."""
    return next((type.name for type in post_types if feed_path(type.name, locale) == path), None)


def listing_at(path: str, locale: str) -> IndexPage | None:
    """The listing whose page has that path."""
    for definition in post_types:
        top = IndexPage(definition.name, locale)
        if top.path and path == top.path:
            return top
        taxonomy, _, term = path.removeprefix(f"{top.path}/").partition("/")
        if top.path and taxonomy in {use.slug for use in definition.taxonomies}:
            found = IndexPage(definition.name, locale, taxonomy, term)
            if found.path == path and "\x00" not in term:  # PostgreSQL refuses to look for it
                return found
    return None


def listings(locale: str) -> dict[str, str]:
    """The titles of the index pages by path, in the language that is active."""
    found = {list_path(type.name, locale): type.name for type in post_types if type.index_path}
    return {path: list_title(type) for path, type in found.items()}


def list_title(type: str) -> str:
    """Return what the page that lists a type is called, in the language that is active."""
    definition = post_types.get(type)
    if definition is None:
        return type
    return gettext(definition.list_label or definition.label_plural or definition.label)
