"""The items and terms of a WordPress export, read from its XML elements."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element

from proofroom.definitions import taxonomies
from proofroom_apps.imports.dates import read_date
from proofroom_apps.imports.html_reader import replace_elements_by_signs
from proofroom_apps.imports.items import TermItem

TAXONOMIES: Final[Mapping[str, str]] = {"category": "topics", "post_tag": "tags"}


@dataclass(slots=True)
class WordPressEntry:
    """An item of the export."""

    post_id: str = ""
    type: str = ""
    status: str = ""
    title: str = ""
    slug: str = ""
    link: str = ""
    guid: str = ""
    creator: str = ""
    parent: str = ""
    order: str = ""
    content: str = ""
    excerpt: str = ""
    attachment: str = ""
    dates: dict[str, str] = field(default_factory=dict)
    is_sticky: bool = False
    comments: int = 0
    has_password: bool = False
    meta: dict[str, str] = field(default_factory=dict)
    terms: list[tuple[str, str, str]] = field(default_factory=list)
    """Domain, slug and name of each term."""

    @property
    def date(self) -> datetime | None:
        """Publication date, else creation date."""
        return self._read_date("post_date") or read_date(self.dates.get("pubDate"))

    @property
    def modified(self) -> datetime | None:
        return self._read_date("post_modified")

    def _read_date(self, name: str) -> datetime | None:
        # WordPress writes 0000-00-00 for unset dates, also next to a date in site time.
        return read_date(f"{self.dates.get(f'{name}_gmt', '')}Z") or read_date(self.dates.get(name))


def local_name(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def text_of(element: Element) -> str:
    return "".join(element.itertext())


def plain_text(text: str) -> str:
    """Return HTML as one line of text."""
    return " ".join(
        html.unescape(re.sub(r"<[^<>]*>", " ", replace_elements_by_signs(text))).split()
    )


_LINE_END: Final = re.compile(r"<br\b[^<>]*>|</(?:p|div|li|h[1-6])>|\n\s*\n", re.IGNORECASE)


def plain_lines(text: str) -> str:
    """Return HTML as text, with a line for each paragraph."""
    parts = _LINE_END.split(replace_elements_by_signs(text))
    lines = (" ".join(html.unescape(re.sub(r"<[^<>]*>", "", part)).split()) for part in parts)
    return "\n".join(line for line in lines if line)


def resolve_address(address: str, base: str) -> str:
    """Return a relative address such as `../team/` resolved against `base`.

    Other addresses are unchanged, also addresses that begin with a slash.
    """
    try:
        parts = urlsplit(address)
        is_relative = bool(parts.path) and not (parts.scheme or parts.netloc)
        return urljoin(base, address) if is_relative and parts.path[0] != "/" else address
    except ValueError:
        return address


def shorten(text: str, most: int) -> str:
    """Return at most `most` characters of a text, cut after a whole word."""
    # One more character, since a word may end exactly at the limit.
    return text if len(text) <= most else text[: most + 1].rpartition(" ")[0] or text[:most]


def dropped_from_plain_text(text: str) -> list[str]:
    """Return the values that `plain_text` drops: addresses of links and pictures, alternative texts."""
    return [
        value
        for element in _LINK_OR_IMAGE.finditer(text)
        for name in _SRC_OR_ALT.finditer(element[0])
        if (value := html.unescape(name[2] or name[3] or "").strip())
    ]


_LINK_OR_IMAGE: Final = re.compile(r"<(?:a|img)\b[^<>]*>", re.IGNORECASE)
_IMAGE_TAG: Final = re.compile(r"<img\b[^<>]*>", re.IGNORECASE)
_SRC_OR_ALT: Final = re.compile(
    r"""(?<![\w-])(src|alt|href)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE
)


def find_alt_texts(content: str) -> Iterator[tuple[str, str]]:
    """Yield address and alternative text of each picture in HTML with both."""
    for image in _IMAGE_TAG.finditer(content):
        values = {
            found[1].lower(): html.unescape(found[2] or found[3] or "")
            for found in _SRC_OR_ALT.finditer(image[0])
        }
        if alt := " ".join(values.get("alt", "").split()):
            yield values.get("src", ""), alt


_FIELDS: Final[Mapping[str, str]] = {
    "post_id": "post_id",
    "post_type": "type",
    "status": "status",
    "post_name": "slug",
    "link": "link",
    "guid": "guid",
    "creator": "creator",
    "post_parent": "parent",
    "menu_order": "order",
    "attachment_url": "attachment",
}


def entry_of(element: Element) -> WordPressEntry:
    entry = WordPressEntry()
    for child in element:
        name = local_name(child.tag)
        namespace = child.tag.rsplit("}", 1)[0] if "}" in child.tag else ""
        if name in _FIELDS:
            setattr(entry, _FIELDS[name], text_of(child).strip())
        elif name == "title":
            entry.title = " ".join(
                html.unescape(
                    re.sub(r"</?[a-zA-Z][^<>]*>", "", replace_elements_by_signs(text_of(child)))
                ).split()
            )
        elif name == "encoded":
            # `content:encoded` and `excerpt:encoded` differ only in their namespaces.
            if "excerpt" in namespace:
                entry.excerpt = text_of(child)
            else:
                entry.content = text_of(child)
        elif name == "postmeta":
            values = {local_name(one.tag): text_of(one) for one in child}
            key = values.get("meta_key", "").strip()
            if key and len(entry.meta) < 500:
                entry.meta[key] = values.get("meta_value", "").strip()
        elif name in (
            "post_date",
            "post_date_gmt",
            "post_modified",
            "post_modified_gmt",
            "pubDate",
        ):
            entry.dates[name] = text_of(child).strip()
        elif name == "is_sticky":
            entry.is_sticky = text_of(child).strip() == "1"
        elif name == "comment":
            entry.comments += 1
        elif name == "post_password":
            entry.has_password = bool(text_of(child).strip())
        elif name == "category" and child.get("domain"):
            label = html.unescape(text_of(child).strip())
            slug = unquote(child.get("nicename") or "") or label
            entry.terms.append((str(child.get("domain")), slug, label))
    entry.type = entry.type or "post"
    if entry.post_id in ("", "0"):
        # Handwritten or reduced exports identify items only by address.
        entry.post_id = entry.guid or entry.link
    return entry


def term_of(element: Element, kind: str) -> TermItem | None:
    """Return a category, tag or other term from the head of the file, or None for an unknown taxonomy."""
    values = {local_name(child.tag): text_of(child).strip() for child in element}
    if kind == "category":
        domain, slug = "category", values.get("category_nicename", "")
        name, parent = values.get("cat_name", ""), values.get("category_parent", "")
        description = values.get("category_description", "")
    elif kind == "tag":
        domain, slug = "post_tag", values.get("tag_slug", "")
        name, parent = values.get("tag_name", ""), ""
        description = values.get("tag_description", "")
    else:
        domain, slug = values.get("term_taxonomy", ""), values.get("term_slug", "")
        name, parent = values.get("term_name", ""), values.get("term_parent", "")
        description = values.get("term_description", "")
    taxonomy = TAXONOMIES.get(domain, domain)
    slug = unquote(slug)
    if taxonomy not in taxonomies or not (slug or name):
        return None
    return TermItem(
        slug or name,
        taxonomy,
        html.unescape(name or slug),
        slug,
        unquote(parent) or None,
        plain_lines(description),
    )
