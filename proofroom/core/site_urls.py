"""URLs of the site: absolute URLs, home pages, the locale of a path, and its canonical form.

A canonical path has no trailing slash, except for home pages, and no prefix for the default locale.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.conf import settings
from django.utils.encoding import iri_to_uri

SEARCH: Final = "search"
LLMS: Final = "llms.txt"
FEED: Final = "feed.xml"
PAGE_MAX_AGE: Final = 60
"""Seconds that a cache may store a page or a redirect of the site."""
PAGE_PARAMETERS: Final = frozenset({"page", "q", "sent", "variation"})
"""The query parameters that pages of the site read."""
_MARKDOWN: Final = ".md"
_HOME: Final = "index.html"


@dataclass(frozen=True, slots=True)
class PageLocation:
    """The path and the language of a page."""

    path: str
    locale: str


def absolute(path: str) -> str:
    """Return the absolute URL of a path."""
    return f"{settings.SITE_URL}{_quoted(path)}"


@lru_cache(maxsize=2000)
def _quoted(path: str) -> str:
    """Return the percent-encoded path. Cached, because pages and feeds contain the same paths many times."""
    return str(iri_to_uri(path))


def home_path(locale: str) -> str:
    """Return the path of the home page of a locale."""
    return "/" if locale == settings.CMS_ENV.default_locale else f"/{locale}/"


def paths_above(place: PageLocation) -> list[str]:
    """Return the possible paths above a page, from the home page down."""
    home = home_path(place.locale)
    parts = place.path.removeprefix(home).strip("/").split("/")
    return [home] + [home + "/".join(parts[:end]) for end in range(1, len(parts))]


def locale_of(path: str) -> str:
    """Return the locale of a path's prefix; the default locale has none."""
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    default: str = settings.CMS_ENV.default_locale
    return first if first in settings.CMS_ENV.locales and first != default else default


def canonical_form(address: str) -> str:
    """Return the canonical form: `/blog/` becomes `/blog`, `/de` becomes `/de/`, `/en/blog` becomes `/blog`."""
    bare = address.rstrip("/") or "/"
    prefix = f"/{settings.CMS_ENV.default_locale}"
    if bare == prefix or bare.startswith(f"{prefix}/"):
        bare = bare.removeprefix(prefix) or "/"
    home = home_path(locale_of(bare))
    return home if bare == home.rstrip("/") else bare


def search_path(locale: str) -> str:
    return f"{home_path(locale)}{SEARCH}"


def markdown_path(path: str) -> str:
    """Return the Markdown path of a page: `/about.md`, and `/index.html.md` for the home page. Slugs have no dots."""
    return f"{path}{_HOME if path.endswith('/') else ''}{_MARKDOWN}"


def page_in_markdown(path: str) -> str | None:
    """Return the path of the page for a Markdown path; None for other paths."""
    bare = path.removesuffix(_MARKDOWN)
    if bare == path or not bare.strip("/"):
        return None
    home = bare.removesuffix(_HOME)
    return home if home == home_path(locale_of(bare)) else bare


def preview_url(token: str) -> str:
    """Return the absolute URL for a preview token."""
    return absolute(f"/preview/{token}")


def release_preview_url(token: str) -> str:
    """Return the absolute URL of the site as of a release, for the token of a link."""
    return absolute(f"/preview/release/{token}/")


def reviewer_url(token: str) -> str:
    """Return the absolute URL for the token of a reviewer link."""
    return absolute(f"/preview/changes/{token}")
