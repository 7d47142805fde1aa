"""Front matter of Markdown files: the fields it fills, and the values without a field."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import yaml
from django.utils.translation import gettext as _

from content.document.post_fields import POST_FIELDS
from content.posts.front_matter import BadFrontMatter, require_bounded, split_front_matter
from proofroom_apps.imports.dates import read_date
from proofroom_apps.imports.items import Remark

LARGEST_FILE: Final = 2 * 1024 * 1024
ORDERS: Final = ("order", "orderIndex", "weight", "sidebar_position", "nav_order")
_IMAGES: Final = ("image", "cover", "featured_image", "featuredImage", "thumbnail", "hero_image")
TERMS: Final[Mapping[str, str]] = {
    "tags": "tags", "keywords": "tags", "tag": "tags",
    "categories": "topics", "category": "topics", "topics": "topics",
}  # fmt: skip
_OLD_PATHS: Final = ("aliases", "redirect_from", "permalink", "url")
MAX_KEY_PARTS: Final = 100
"""Maximum number of dotted parts of a TOML key. The time of Python's parser grows with their square."""
LOCALES: Final = ("locale", "lang", "language")
AUTHORS: Final = ("author", "authors", "creator")
DATES: Final[Mapping[str, tuple[str, ...]]] = {
    "published_at": ("date", "publishDate", "pubDate", "published", "published_at", "publishedAt", "datePublished"),
    "created_at": ("created", "created_at", "createdAt", "dateCreated"),
    "updated_at": (
        "lastmod", "updated", "updated_at", "updatedAt", "last_modified_at", "modified", "dateModified", "last_update"
    ),
}  # fmt: skip
"""Front matter names of each date of a post."""
_DRAFT: Final = "draft"
FIELDS: Final[Mapping[str, str]] = {
    "description": "metaDescription",
    **{
        name: name
        for name, declared in POST_FIELDS.items()
        if declared.is_text and declared.translatable and name != "title"
    },
}
"""Post field that each front matter name fills."""
USED_NAMES: Final = frozenset(
    {"title", "slug", *FIELDS, *ORDERS, *_IMAGES, *TERMS, *_OLD_PATHS, *LOCALES, *AUTHORS}
    | {_DRAFT, *(name for names in DATES.values() for name in names)}
)


def read_file(path: Path) -> tuple[Mapping[str, object], str, str]:
    """Return front matter, text, and a remark on the file. Raises `OSError`, or `ValueError` with a sentence."""
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(
            _("The file is larger than %(most)s MB.") % {"most": LARGEST_FILE // 1024 // 1024}
        )
    content = path.read_bytes()
    remark = ""
    try:
        is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = content.decode("utf-16" if is_wide else "utf-8")
    except UnicodeDecodeError:
        # Windows-1252 decodes almost any bytes, so binary files have to be found by their NUL bytes.
        if b"\x00" in content:
            raise ValueError(_("The file is not text.")) from None
        text = content.decode("cp1252", "replace")
        remark = _("The file is not UTF-8; it was read as Windows-1252.")
    if text.startswith("+++\n") or text.startswith("+++\r\n"):
        head, found, rest = text[3:].partition("\n+++")
        if found:
            if any(parts_of_key(line) > MAX_KEY_PARTS for line in head.splitlines()):
                raise ValueError(_("The front matter has a key with too many parts."))
            try:
                found_toml = tomllib.loads(head.replace("\r\n", "\n"))
                require_bounded(found_toml)
                return found_toml, rest.partition("\n")[2], remark
            # A ValueError too, but with a sentence for the report.
            except BadFrontMatter:
                raise
            except (ValueError, RecursionError) as error:
                text_of = _("The front matter is not valid TOML: %(why)s")
                raise ValueError(text_of % {"why": error}) from None
    if text.startswith("{"):
        try:
            found_json, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            found_json, end = None, 0
        # Hugo accepts it in one line. If text follows on that line, the page only begins with a brace.
        if isinstance(found_json, dict) and not text[end:].partition("\n")[0].strip():
            require_bounded(found_json)
            return found_json, text[end:].lstrip("\r\n").replace("\x00", "\ufffd"), remark
    try:
        head_of, body = split_front_matter(text)
    except RecursionError:
        raise ValueError(_("The front matter is nested too deeply.")) from None
    return head_of, body.replace("\x00", "\ufffd"), remark


def parts_of_key(line: str) -> int:
    """Return the number of parts of the longest possible TOML key in a line; text with spaces is not a key."""
    longest = run = 0
    for part in line.split("."):
        words = part.split()
        run = run + 1 if len(words) == 1 and "=" not in words[0] else 1
        longest = max(longest, run)
    return longest


def read_data(path: Path) -> Mapping[str, object]:
    """Return the mapping in a YAML or JSON file; empty if there is none."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            return {}
        found = yaml.safe_load(path.read_text("utf-8"))
        # Aliases in a small YAML file can stand for millions of values.
        require_bounded(found)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return {}
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}


def line_of(value: object) -> str:
    """Return a YAML scalar as one line. A title may look like a number or a date."""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return " ".join(str(value).split())


def words_of(value: object) -> list[str]:
    """Return words from a list, from objects with a label, or from text with commas."""
    if isinstance(value, str):
        return [word for part in value.split(",") if (word := line_of(part))]
    if isinstance(value, list):
        labels = (
            part.get("label") or part.get("name") if isinstance(part, Mapping) else part
            for part in value
        )
        return [word for label in labels if (word := line_of(label))]
    return []


def _length(value: object) -> int:
    """Return the number of words that a value should have."""
    if isinstance(value, list):
        return len(value)
    return len(words_of(value)) if isinstance(value, str) else int(value not in (None, ""))


def image_of(head: Mapping[str, object]) -> str:
    for key in _IMAGES:
        value = head.get(key)
        if isinstance(value, Mapping):
            value = value.get("src") or value.get("image") or value.get("url") or value.get("path")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def read_front_matter_dates(
    head: Mapping[str, object], day: str = ""
) -> dict[str, datetime | None]:
    """Return the dates of a page by field of its item. `day` is the date in its file name.

    A draft has no publication date.
    """
    found = {
        field: next((one for name in names if (one := _date_of(head.get(name)))), None)
        for field, names in DATES.items()
    }
    found["published_at"] = found["published_at"] or read_date(day)
    found["created_at"] = found["created_at"] or found["published_at"]
    # `published` is a date in some programs and a flag in others.
    if head.get(_DRAFT) is True or head.get("published") is False:
        found["published_at"] = None
    return found


def _date_of(value: object) -> datetime | None:
    # Docusaurus: `last_update: {date: 2024-05-01}`.
    return read_date(value.get("date") if isinstance(value, Mapping) else value)


def read_old_paths(head: Mapping[str, object]) -> list[str]:
    """Return the old paths that the front matter names."""
    return [
        # Addresses of other sites and patterns such as `/:year/:title/` are no paths; a remark names them.
        old if old.startswith("/") else f"/{old}"
        for key in _OLD_PATHS
        for old in words_of(head.get(key))
        if "://" not in old and ":" not in old
    ]


def front_matter_remarks(head: Mapping[str, object], place: str) -> list[Remark]:
    """Return remarks on the values of the front matter that were not used."""
    remarks: list[Remark] = []
    held: dict[str, object] = {
        **{name: line_of(head.get(name)) for name in ("title", "slug", *FIELDS, *LOCALES)},
        # Not `isinstance`: True is an int in Python.
        **{name: type(head.get(name)) is int for name in ORDERS},
        **{
            name: isinstance(head.get(name), bool) or _date_of(head.get(name))
            for names in DATES.values()
            for name in names
        },
        **{name: image_of({name: head.get(name)}) for name in _IMAGES},
        **{name: len(words_of(head.get(name))) == _length(head.get(name)) for name in TERMS},
        **{
            name: len(read_old_paths({name: head.get(name)})) == len(words_of(head.get(name)))
            and not isinstance(head.get(name), Mapping)
            for name in _OLD_PATHS
        },
    }
    for name, is_held in held.items():
        value = head.get(name)
        if value not in (None, "", [], {}) and not is_held:
            text = _("%(field)s cannot store %(value)s; the value was left out.")
            shown = {"field": name, "value": " ".join(str(value).split())[:100]}
            remarks.append(Remark(place, text % shown))
    images = [name for name in _IMAGES if image_of({name: head.get(name)})]
    if len(images) > 1:
        text = _("Not used: %(names)s.") % {"names": ", ".join(images[1:])}
        remarks.append(Remark(place, text))
    return remarks
