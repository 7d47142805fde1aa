"""What a visitor accepts: Markdown rather than HTML, and bodies that are compressed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

_LONGEST: Final = 2000
_QUALITY: Final = re.compile(r"(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\Z")
Encoding = Literal["br", "gzip", ""]
"""How a body is compressed; empty where it is not."""


@lru_cache(maxsize=1024)
def prefers_markdown(accept: str) -> bool:
    """Return whether Markdown is wanted more than HTML; as much counts only where Markdown is named."""
    ranges = _weighed(accept)
    markdown, html = _quality(ranges, "text/markdown"), _quality(ranges, "text/html")
    return markdown > html or (markdown == html > 0 and "text/markdown" in ranges)


@lru_cache(maxsize=1024)
def accepted_encoding(accept_encoding: str) -> Encoding:
    """Return the best compression that is accepted by its name."""
    weights = _weighed(accept_encoding)
    brotli, gzip = weights.get("br", 0.0), weights.get("gzip", 0.0)
    if brotli > 0 and brotli >= gzip:
        return "br"
    return "gzip" if gzip > 0 else ""


def _weighed(header: str) -> dict[str, float]:
    """The names in a header with their quality; one whose quality is none is not there."""
    found: dict[str, float] = {}
    for entry in header[:_LONGEST].lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        weights = [part.partition("=")[2] for part in parameters if part.startswith("q=")]
        weight = weights[0].strip() if weights else "1"
        if name and _QUALITY.match(weight):
            found[name] = max(found.get(name, 0.0), float(weight))
    return found


def _quality(ranges: dict[str, float], type_: str) -> float:
    """Return what the most specific range says of a type."""
    for name in (type_, f"{type_.partition('/')[0]}/*", "*/*"):
        if name in ranges:
            return ranges[name]
    return 0.0
