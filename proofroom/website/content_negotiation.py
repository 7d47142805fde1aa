"""Whether a visitor would rather have a page as Markdown, by the header `Accept` (RFC 9110, 12.5.1)."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 2000
_QUALITY: Final = re.compile(r"(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\Z")


def prefers_markdown(accept: str) -> bool:
    """Whether Markdown is wanted more than HTML; as much counts only where Markdown is named."""
    ranges = _ranges(accept[:_LONGEST])
    markdown, html = _quality(ranges, "text/markdown"), _quality(ranges, "text/html")
    return markdown > html or (markdown == html > 0 and "text/markdown" in ranges)


def _ranges(accept: str) -> dict[str, float]:
    """The media ranges with their quality; one whose quality is none is not there."""
    found: dict[str, float] = {}
    for entry in accept.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        weights = [part.partition("=")[2] for part in parameters if part.startswith("q=")]
        weight = weights[0].strip() if weights else "1"
        if name and _QUALITY.match(weight):
            found[name] = max(found.get(name, 0.0), float(weight))
    return found


def _quality(ranges: dict[str, float], type_: str) -> float:
    """What the most specific range says of a type."""
    for name in (type_, f"{type_.partition('/')[0]}/*", "*/*"):
        if name in ranges:
            return ranges[name]
    return 0.0
