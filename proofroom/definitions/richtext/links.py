"""The rule for URLs in rich text. No other place decides this."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape

MAX_HREF = 2048
"""Characters of a URL in rich text. A URL field may have `URL_MAX`."""

_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_AUTHORITY = re.compile(r"//[^/?#\s]")
# Percent-encoded, because these characters end or change a link in Markdown or in careless HTML.
_ENCODED = {ord(char): f"%{ord(char):02X}" for char in ' "<>`|'}


def safe_href(value: object) -> str | None:
    """Return the URL as it may be stored and rendered, or None if it is unsafe.

    Allowed: http, https, mailto, tel, relative paths, queries and fragments.
    """
    if not isinstance(value, str) or len(value) > MAX_HREF:
        return None
    return _safe_address(value)


@lru_cache(maxsize=2000)
def _safe_address(value: str) -> str | None:
    """Return the safe form of a URL, or None. Cached, because pages repeat the same URLs."""
    address = value.strip(" ")
    # Some consumers decode entities once too often, so both readings must be safe.
    if not _is_safe(address) or not _is_safe(unescape(address)):
        return None
    return address.translate(_ENCODED)


def safe_src(value: object) -> str | None:
    """Return the URL of an image, or None: like `safe_href`, but only http, https and relative URLs."""
    address = safe_href(value)
    if address is None or address.startswith("#"):
        return None
    return None if address.lower().startswith(("mailto:", "tel:")) else address


def is_external(address: str) -> bool:
    """Return True if a safe URL names a host, so that it leaves the site."""
    return address.lower().startswith(("http://", "https://"))


def _is_safe(address: str) -> bool:
    # Browsers read a backslash as a slash, and `//host` as another site.
    if not address or "\\" in address or address.startswith("//"):
        return False
    # Browsers drop tabs and newlines inside a URL, so `java\tscript:` would run. A printable address has no
    # control or format characters, and no white space except plain spaces.
    if not address.isprintable() and any(
        unicodedata.category(char) in _FORBIDDEN_CATEGORIES or (char != " " and char.isspace())
        for char in address
    ):
        return False
    # A colon after the first slash, question mark or hash does not end a scheme.
    if ":" not in re.split(r"[/?#]", address, maxsplit=1)[0]:
        return True
    scheme, _, rest = address.partition(":")
    if scheme.lower() in {"http", "https"}:
        # Browsers read `https:evil` and `https:/evil` as absolute, so the host is required.
        return _AUTHORITY.match(rest) is not None
    return scheme.lower() in {"mailto", "tel"} and bool(rest)
