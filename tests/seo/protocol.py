"""The sitemap protocol's schemas (sitemap.xsd, siteindex.xsd 0.9) and limits, checked rule by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

NAMES = "http://www.sitemaps.org/schemas/sitemap/0.9"
XHTML = "http://www.w3.org/1999/xhtml"
_URI = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+", re.ASCII)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_W3C = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Url:
    location: str
    changed: str
    languages: dict[str, str]


def urls_of(body: bytes, *, most: int = 50_000) -> list[Url]:
    """Return the entries of an `urlset`; fails if it is invalid."""
    root = _root(body, "urlset")
    found = [_url(element) for element in root]
    assert len(found) <= most
    assert len(body) <= 52_428_800
    return found


def parts_of(body: bytes) -> list[str]:
    """Return the URLs in a `sitemapindex`; fails if it is invalid."""
    root = _root(body, "sitemapindex")
    assert 1 <= len(root) <= 50_000
    assert len(body) <= 52_428_800
    addresses = []
    for element in root:
        assert element.tag == f"{{{NAMES}}}sitemap"
        assert [child.tag for child in element] == [f"{{{NAMES}}}loc", f"{{{NAMES}}}lastmod"]
        addresses.append(_address(element[0].text))
        _moment(element[1].text)
    return addresses


def _root(body: bytes, name: str) -> ET.Element:
    text = body.decode("utf-8", errors="strict")
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    assert "<!" not in text
    root = ET.fromstring(text)  # noqa: S314  # our own answer, and no document type is in it
    assert root.tag == f"{{{NAMES}}}{name}"
    assert root.attrib == {}
    return root


def _url(element: ET.Element) -> Url:
    assert element.tag == f"{{{NAMES}}}url"
    tags = [child.tag for child in element]
    assert tags[:2] == [f"{{{NAMES}}}loc", f"{{{NAMES}}}lastmod"]
    assert set(tags[2:]) <= {f"{{{XHTML}}}link"}
    languages = {}
    for link in element[2:]:
        assert set(link.attrib) == {"rel", "hreflang", "href"}
        assert link.attrib["rel"] == "alternate"
        assert link.attrib["hreflang"] not in languages
        languages[link.attrib["hreflang"]] = _address(link.attrib["href"])
    return Url(_address(element[0].text), _moment(element[1].text), languages)


def _address(text: str | None) -> str:
    assert text is not None
    assert 12 <= len(text) <= 2048
    assert _URI.fullmatch(text)
    assert not _ESCAPE.search(text)
    parts = urlsplit(text)
    assert parts.scheme in ("http", "https")
    assert parts.netloc
    return text


def _moment(text: str | None) -> str:
    assert text is not None
    assert _W3C.fullmatch(text)
    assert datetime.fromisoformat(text).tzinfo is not None
    return text
