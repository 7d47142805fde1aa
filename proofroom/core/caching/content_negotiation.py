"""Content negotiation of pages: Markdown or HTML, and compression."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

_MAX_LENGTH: Final = 2000
"""Characters of a header that are read. Bounds the memory of the caches below."""
_QUALITY: Final = re.compile(r"(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\Z")
Encoding = Literal["br", "gzip", ""]
"""Compression of a body; empty for none."""


def prefers_markdown(accept: str) -> bool:
    """Return whether Markdown is preferred to HTML. With equal quality the header must name Markdown."""
    return _prefers_markdown(accept[:_MAX_LENGTH])


@lru_cache(maxsize=1024)
def _prefers_markdown(accept: str) -> bool:
    ranges = _parse_weights(accept)
    markdown, html = _quality(ranges, "text/markdown"), _quality(ranges, "text/html")
    return markdown > html or (markdown == html > 0 and "text/markdown" in ranges)


def accepted_encoding(accept_encoding: str) -> Encoding:
    """Return the best compression that the header accepts by name."""
    return _accepted_encoding(accept_encoding[:_MAX_LENGTH])


@lru_cache(maxsize=1024)
def _accepted_encoding(accept_encoding: str) -> Encoding:
    weights = _parse_weights(accept_encoding)
    brotli, gzip = weights.get("br", 0.0), weights.get("gzip", 0.0)
    if brotli > 0 and brotli >= gzip:
        return "br"
    return "gzip" if gzip > 0 else ""


def _parse_weights(header: str) -> dict[str, float]:
    """Parse a header into names and quality values. Ignores invalid values."""
    found: dict[str, float] = {}
    for entry in header.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        weights = [part.partition("=")[2] for part in parameters if part.startswith("q=")]
        weight = weights[0].strip() if weights else "1"
        if name and _QUALITY.match(weight):
            found[name] = max(found.get(name, 0.0), float(weight))
    return found


def _quality(ranges: dict[str, float], type_: str) -> float:
    """Return the quality of a type from the most specific range."""
    for name in (type_, f"{type_.partition('/')[0]}/*", "*/*"):
        if name in ranges:
            return ranges[name]
    return 0.0
