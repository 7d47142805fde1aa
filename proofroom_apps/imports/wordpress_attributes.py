"""Texts in block attributes of WordPress: plugin fields, labels, overrides of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape, unescape
from typing import Final, NamedTuple

from proofroom.core.json import Json
from proofroom_apps.imports.html_reader import replace_elements_by_signs

_IMAGE_KEY: Final = re.compile(
    r"(?:image|img|photo|picture|logo|icon|background|avatar)(?:_?id)?\Z", re.IGNORECASE
)
_TECHNICAL: Final = re.compile(
    r"\A(?:_|(?:name|mode|id|ref|lock|align\w*|class\w*|css\w*|style|layout|theme|slug|type|tag\w*|anchor|uuid|block_?id"
    r"|size\w*|width|height|color\w*|\w*Color|\w*Size|gradient|url|link|href|target|rel|variant|template|metadata"
    r"|placeholder_type|post_?type|query|order\w*|font\w*|icon|provider\w*|unit|version)\Z)"
)
"""Attributes for appearance or type; names that begin with `_` are field definitions."""
_NO_WORDS: Final = re.compile(
    r"\A(?:field_\w+|#[0-9a-f]{3,8}|[\W\d_]*|true|false|null|on|off)\Z", re.IGNORECASE
)
_CHOICE: Final = re.compile(r"\A[a-z0-9][a-z0-9_-]*\Z")
"""A word chosen by a program, such as `is-style-wide`, if nothing marks it as text."""
_READ: Final = re.compile(
    r"\A(?:.*[_-])?(?:title|text|label|heading|headline|subtitle|content|description|caption|question|answer|quote"
    r"|author|placeholder|button(?:_?text)?|cta|intro|lead|body|message|summary|note|alt)\Z", re.IGNORECASE,
)  # fmt: skip
_DEEPEST: Final = 12
_MOST: Final = 500
_ELEMENT: Final = re.compile(r"\A(\s*<\w+\b[^<>]*>)(.*)(</\w+>\s*)\Z", re.DOTALL)
_ANCHOR: Final = re.compile(r"(<a\b[^<>]*>)(.*)(</a>)", re.DOTALL)


class AttributeValue(NamedTuple):
    """A text, a picture by its attachment id, or an address."""

    kind: str
    """One of `words`, `image` or `link`."""
    text: str
    address: str = ""


def attribute_values(attributes: Mapping[str, Json]) -> list[AttributeValue]:
    """Return the readable attributes of a block in order."""
    found: list[AttributeValue] = []
    for one in _walk(attributes, "", 0):
        if len(found) == _MOST:
            break
        found.append(one)
    return found


def _walk(value: Json, key: str, depth: int) -> Iterator[AttributeValue]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        address = value.get("url") or value.get("href")
        title = value.get("title") or value.get("label") or value.get("text")
        if isinstance(address, str) and isinstance(title, str) and address and title:
            yield AttributeValue("link", title, address)
            value = {name: one for name, one in value.items() if one not in (address, title)}
        for name, one in value.items():
            if isinstance(one, dict | list) and name not in (
                "style",
                "layout",
                "lock",
                "metadata",
                "query",
            ):
                yield from _walk(one, name, depth + 1)
            elif _IMAGE_KEY.search(name) and str(one).isdigit():
                yield AttributeValue("image", str(one))
            elif isinstance(one, str) and not name.startswith("_"):
                yield from _text(name, one)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, str):
                yield from _text(key, one)
            else:
                yield from _walk(one, key, depth + 1)


def _text(name: str, value: str) -> Iterator[AttributeValue]:
    if _NO_WORDS.match(value.strip()):
        return
    if value.startswith(("http://", "https://")) and not re.search(r"\s", value):
        if not _TECHNICAL.match(name):
            yield AttributeValue("link", "", value)
        return
    is_read = _READ.match(name) is not None
    # One lowercase word is a setting, unless the attribute's name says that it is text.
    if _CHOICE.match(value) and not is_read:
        return
    if not _TECHNICAL.match(name) or is_read or " " in value.strip():
        yield AttributeValue("words", value)


def plain_words(values: list[AttributeValue]) -> str:
    """Return the texts of values for a report, in quotation marks."""
    texts = [
        " ".join(unescape(re.sub(r"<[^<>]*>", " ", replace_elements_by_signs(one.text))).split())
        for one in values
    ]
    return ", ".join(f"“{text[:200]}”" for text in texts if text)[:600]


def override_html(html: str, values: Mapping[str, Json]) -> tuple[str, list[AttributeValue]]:
    """Return the HTML of a pattern's block with overridden values, and the values without a place."""
    lost: list[AttributeValue] = []
    for name, value in values.items():
        if not isinstance(value, str) or name in ("id", "linkTarget", "rel"):
            continue
        tag = "img" if "<img" in html else "a"
        made: str | None = None
        if name in ("content", "text"):
            found = (_ANCHOR if name == "text" else _ELEMENT).search(html)
            made = f"{html[: found.start(2)]}{value}{html[found.end(2) :]}" if found else None
        elif name in ("url", "alt", "title"):
            attribute = {"url": "src" if tag == "img" else "href"}.get(name, name)
            made = _with_attribute(html, tag, attribute, value)
        if made is not None:
            html = made
        else:
            lost += _text("text", value)
    return html, lost


def _with_attribute(html: str, tag: str, name: str, value: str) -> str | None:
    found = re.search(rf"<{tag}\b[^<>]*>", html)
    if found is None:
        return None
    bare = re.sub(rf"\s{name}=(?:\"[^\"<>]*\"|'[^'<>]*')", "", found[0], count=1)
    start = len(tag) + 1
    made = f'{bare[:start]} {name}="{escape(value)}"{bare[start:]}'
    return html[: found.start()] + made + html[found.end() :]
