"""The addresses that the sitemap names, as the protocol wants them: absolute, escaped, at most 2,048 characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from django.conf import settings
from django.utils.encoding import iri_to_uri

from content.site.addresses import absolute
from seo.sitemap.rows import Listed

LONGEST: Final = 2048
_PLAIN: Final = re.compile(r"[A-Za-z0-9/_.~:-]*", re.ASCII)
_DEFAULT: Final = "x-default"


def entry_of(post: Listed, origin: str) -> str:
    """The `url` element of a post; empty where its address is too long for the protocol."""
    location = address_of(post.path, post.canonical, origin)
    if len(location) > LONGEST:
        return ""
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{locale}" href="{escaped(address)}"/>'
        for locale, address in _alternates(post, origin)
    )
    return f"<url><loc>{escaped(location)}</loc><lastmod>{post.changed}</lastmod>{links}</url>\n"


def address_of(path: str, canonical: str, origin: str) -> str:
    """The canonical address where the post has one, else its path under the name that was asked for."""
    return _as_uri(canonical) if canonical else origin + _as_uri(path)


def escaped(address: str) -> str:
    return address if _PLAIN.fullmatch(address) else escape(address)


def _as_uri(address: str) -> str:
    return address if _PLAIN.fullmatch(address) else str(iri_to_uri(address))


def _alternates(post: Listed, origin: str) -> Sequence[tuple[str, str]]:
    """The languages of a post with their addresses, itself among them; none where it has only one.

    A page that names another one as the original offers no languages, and is offered as none.
    """
    if not post.translations or not _is_original(post.path, post.canonical):
        return ()
    found = {
        item.locale: address_of(item.path, item.canonical, origin)
        for item in post.translations
        if _is_original(item.path, item.canonical)
    }
    if len(found) < 2:
        return ()
    links = [(locale, found[locale]) for locale in settings.CMS_ENV.locales if locale in found]
    default = found.get(settings.CMS_ENV.default_locale, links[0][1])
    return [*links, (_DEFAULT, default)]


def _is_original(path: str, canonical: str) -> bool:
    return not canonical or canonical == absolute(path)
