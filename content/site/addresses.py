"""Addresses of the site: full ones, home pages, the locale that a path names, its canonical form.

The canonical form has no slash at its end, but for the home pages, and no prefix for the default locale.
"""

from __future__ import annotations

from django.conf import settings
from django.utils.encoding import iri_to_uri


def absolute(path: str) -> str:
    """A path of the site as a full address."""
    return f"{settings.SITE_URL}{iri_to_uri(path)}"


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
