"""Addresses of the site: full ones, home pages, the locale that a path names, its canonical form.

The canonical form has no slash at its end, but for the home pages, and no prefix for the default locale.
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
"""How many seconds a cache may keep a page or a redirect of the site."""
PAGE_PARAMETERS: Final = frozenset({"page", "q", "sent", "variation"})
"""The query parameters that pages of the site look at."""
_MARKDOWN: Final = ".md"
_HOME: Final = "index.html"


@dataclass(frozen=True, slots=True)
class PageLocation:
    """The path and the language of a page."""

    path: str
    locale: str


def absolute(path: str) -> str:
    """A path of the site as a full address."""
    return f"{settings.SITE_URL}{_quoted(path)}"


@lru_cache(maxsize=2000)
def _quoted(path: str) -> str:
    """Pages and feeds name the same paths again and again."""
    return str(iri_to_uri(path))


def home_of(locale: str) -> str:
    """The path of the home page of a locale."""
    return "/" if locale == settings.CMS_ENV.default_locale else f"/{locale}/"


def locale_of(path: str) -> str:
    """The locale whose prefix a path begins with; the default one has none."""
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    default: str = settings.CMS_ENV.default_locale
    return first if first in settings.CMS_ENV.locales and first != default else default


def canonical_form(address: str) -> str:
    """The one form of an address: `/blog/` is `/blog`, `/de` is `/de/`, `/en/blog` is `/blog`."""
    bare = address.rstrip("/") or "/"
    prefix = f"/{settings.CMS_ENV.default_locale}"
    if bare == prefix or bare.startswith(f"{prefix}/"):
        bare = bare.removeprefix(prefix) or "/"
    home = home_of(locale_of(bare))
    return home if bare == home.rstrip("/") else bare


def search_path(locale: str) -> str:
    return f"{home_of(locale)}{SEARCH}"


def markdown_path(path: str) -> str:
    """Return where a page is as Markdown: `/about.md`, and `/index.html.md` for the home page. No slug has a dot."""
    return f"{path}{_HOME if path.endswith('/') else ''}{_MARKDOWN}"


def page_in_markdown(path: str) -> str | None:
    """The path of the page whose Markdown has that path; None for any other path."""
    bare = path.removesuffix(_MARKDOWN)
    if bare == path or not bare.strip("/"):
        return None
    home = bare.removesuffix(_HOME)
    return home if home == home_of(locale_of(bare)) else bare


def preview_url(token: str) -> str:
    """The full address that a token opens."""
    return absolute(f"/preview/{token}")
