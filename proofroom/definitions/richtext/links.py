"""Judges which addresses rich text may carry. The one place for that rule."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape

MAX_HREF = 2048
"""Characters of an address within rich text. One in a field of its own may have `URL_MAX`."""

_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_AUTHORITY = re.compile(r"//[^/?#\s]")
# Percent-encoded, because each of them ends or changes a link in Markdown or in careless HTML.
_ENCODED = {ord(char): f"%{ord(char):02X}" for char in ' "<>`|'}


def safe_href(value: object) -> str | None:
    """The address as it may be stored and rendered, or None for one that may not.

    Allowed: http, https, mailto, tel, relative paths, queries and fragments.
    """
    if not isinstance(value, str) or len(value) > MAX_HREF:
        return None
    return _safe_address(value)


@lru_cache(maxsize=2000)
def _safe_address(value: str) -> str | None:
    """Pages show the same addresses again and again: each is judged once."""
    address = value.strip(" ")
    # Some readers decode entities once more than they should, so both readings must be safe.
    if not _is_safe(address) or not _is_safe(unescape(address)):
        return None
    return address.translate(_ENCODED)


def safe_src(value: object) -> str | None:
    """Like `safe_href`, for an image: only http, https and relative addresses."""
    address = safe_href(value)
    if address is None or address.startswith("#"):
        return None
    return None if address.lower().startswith(("mailto:", "tel:")) else address


def is_external(address: str) -> bool:
    """Return whether a safe address leaves the site: it names a host."""
    return address.lower().startswith(("http://", "https://"))


def _is_safe(address: str) -> bool:
    # Browsers read a backslash as a slash, and `//host` as another site.
    if not address or "\\" in address or address.startswith("//"):
        return False
    # Browsers drop tabs and newlines inside an address: `java\tscript:` would come alive again.
    if any(
        unicodedata.category(char) in _FORBIDDEN_CATEGORIES or (char != " " and char.isspace())
        for char in address
    ):
        return False
    if ":" not in re.split(r"[/?#]", address, maxsplit=1)[0]:
        return True
    scheme, _, rest = address.partition(":")
    if scheme.lower() in {"http", "https"}:
        # Browsers read `https:evil` and `https:/evil` as absolute: the host is required.
        return _AUTHORITY.match(rest) is not None
    return scheme.lower() in {"mailto", "tel"} and bool(rest)
