"""Imports records of a file, such as CSV rows or JSON objects, as posts. A mapping assigns fields."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Final, cast
from urllib.parse import urljoin

from django.utils.translation import gettext as _

from content.document.post_fields import POST_FIELDS
from proofroom.core.errors import invalid
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import allowed_modules, find_post_type, props_of
from proofroom_apps.imports.authors import read_authors
from proofroom_apps.imports.content_source import ImportOptions, Reader, locale_of, unknown_locale
from proofroom_apps.imports.dates import read_date
from proofroom_apps.imports.items import Item, MediaItem, ModuleItem, PostItem, Remark, TermItem
from proofroom_apps.imports.markdown_content import MarkdownContent, read_markdown
from proofroom_apps.imports.media_files import MediaFiles
from proofroom_apps.imports.module_builder import ModuleBuilder
from proofroom_apps.imports.record_files import RecordFile, value_at
from proofroom_apps.imports.rich_text import html_of

BODY_FORMATS: Final = ("html", "markdown", "text")
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "documentId", "_id", "uuid", "key"),
    "title": ("title", "name", "headline"),
    "slug": ("slug",),
    "body": ("body", "content", "text", "html", "markdown"),
    "locale": ("locale", "language", "lang"),
    "parent": ("parent", "parentId", "parent_id"),
    "author": ("author", "authors", "author_email", "authorEmail"),
    "image": ("image", "featured_image", "featuredImage", "cover", "thumbnail"),
    "tags": ("tags",),
    "topics": ("topics", "categories", "category"),
    "oldPath": ("oldPath", "old_path", "path", "url"),
    "orderIndex": ("orderIndex", "order", "sort"),
    "excerpt": ("excerpt", "summary", "teaser"),
    "metaTitle": ("metaTitle", "meta_title", "seo_title"),
    "metaDescription": ("metaDescription", "meta_description", "description"),
    "publishedAt": (
        "publishedAt", "published_at", "date_published", "publishDate", "pubDate", "date_gmt", "date"
    ),
    "createdAt": ("createdAt", "created_at", "date_created", "created"),
    "updatedAt": (
        "updatedAt", "updated_at", "date_updated", "modified_gmt", "modified", "lastmod", "updated"
    ),
}  # fmt: skip
"""Fields that a record can fill, and the names searched for without a mapping."""
_DATES: Final = ("publishedAt", "createdAt", "updatedAt")
_SETTINGS: Final = frozenset({"items", "format"})
_IDS: Final = ("id", "documentId", "_id", "_ref", "$oid", "uuid")
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("rendered", "value", "text"),
    "slug": ("current", "value", "slug"),
    "locale": ("code", "locale", "languages_code", "slug", *_IDS),
    "oldPath": ("path", "url", "current"),
    "author": ("email", "mail", "name", "displayName", "display_name", "username", *_IDS),
}
"""Keys of an object with the text for a field; an object without them is a reference to another record."""
_FILE_KEYS: Final = ("url", "src", "secure_url", "filename_disk", "path", "href")
_FILE_HOLDERS: Final = ("file", "image", "asset", "media", "data", "directus_files_id")
_ALT_KEYS: Final = ("alternativeText", "alt", "alt_text", "altText", "description", "title")
_TERM_KEYS: Final = ("name", "title", "label", "slug", "value")


class RecordReader(Reader):
    """A reader of records with a mapping. `body_format` is the format of their text, unless the mapping has one."""

    def __init__(
        self, file: RecordFile, path: Path, options: ImportOptions, body_format: str = "html"
    ) -> None:
        self.file, self.records, self.options = file, file.records, options
        # Files with the same name in different folders are different sources.
        # The database column of `scope` has 300 characters.
        self.scope = f"{options.name or path.resolve()}#{options.type}"[-300:]
        media = (Path(options.media).resolve(),) if options.media else ()
        self.files = MediaFiles(media, options.fetch)
        self.type = find_post_type(options.type)
        self.allowed = frozenset(module.name for module in allowed_modules(options.type))
        self.custom = props_of(self.type.CustomFields)
        self.format = str(options.mapping.get("format") or body_format)
        if self.format not in BODY_FORMATS:
            raise invalid(
                "mapping",
                _("The text format must be one of: %(formats)s.")
                % {"formats": ", ".join(BODY_FORMATS)},
            )
        self.mapping = self._mapping()

    def _mapping(self) -> dict[str, str]:
        """Return the place in a record of each mapped field."""
        known = {*_TARGETS, *POST_FIELDS, *(f"customFields.{name}" for name in self.custom)}
        given = {
            name: place for name, place in self.options.mapping.items() if name not in _SETTINGS
        }
        for name, place in given.items():
            if name not in known or not isinstance(place, str):
                raise invalid(
                    "mapping",
                    _("The mapping uses %(name)r, which is not a field. Available: %(known)s.")
                    % {"name": name[:60], "known": ", ".join(sorted(known))},
                )
        found = {name: str(place) for name, place in given.items()}
        columns = {column for record in self.records for column in record}
        for name, aliases in _TARGETS.items():
            is_date = name in _DATES
            column = next(
                (one for one in aliases if one in columns and not (is_date and one in self.custom)),
                None,
            )
            if name not in found and column is not None and column not in found.values():
                found[name] = column
        for name in self.custom:
            if name in columns:
                found.setdefault(f"customFields.{name}", name)
        if "title" not in found:
            raise invalid("mapping", _("Specify in the mapping which column is the title."))
        return found

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        # Remarks belong to the outline, which is read without `wanted`.
        if not wanted:
            yield from self.file.remarks
            yield from self._remarks_on_columns()
        uses = {use.slug for use in self.type.taxonomies}
        left_out: Counter[str] = Counter()
        seen: set[tuple[str, str]] = set()
        media = [
            "image",
            *(f"customFields.{name}" for name, prop in self.custom.items() if prop.kind == "media"),
        ]
        for place, record in zip(self.file.places, self.records, strict=True):
            title = self._line(record, "title")
            if not title:
                if not wanted:
                    yield Remark(place, _("No title; skipped."), "error")
                continue
            # Never the number of the row, which changes when rows are added.
            source_id = self._line(record, "id") or self._line(record, "slug") or title
            terms: list[tuple[str, str]] = []
            for taxonomy in ("tags", "topics"):
                words, _lost = self._words(record, taxonomy)
                if taxonomy not in uses:
                    left_out[taxonomy] += len(words)
                    continue
                for word in words:
                    terms.append((taxonomy, word))
                    if (taxonomy, word) not in seen:
                        seen.add((taxonomy, word))
                        yield TermItem(word, taxonomy, word)
            for name in media if not wanted else ():
                found, _lost = files_in(self._value(record, name))
                for number, file in enumerate(found):
                    # The post brings its first file, so that is listed only for its texts. Others fit no field.
                    if number or file.alt_text:
                        yield replace(file, address=self.file_key(file.address, ""))
            item = self.read_post(
                f"{place}: {title}",
                partial(self._post, record, source_id, title, tuple(terms)),
                source_id in wanted,
            )
            if isinstance(item, PostItem) or not wanted:
                yield item
        for taxonomy, number in left_out.items() if not wanted else ():
            if number:
                text = _("Posts of type %(type)s have no %(taxonomy)s; %(number)s left out.")
                values = {"type": self.options.type, "taxonomy": taxonomy, "number": number}
                yield Remark(self.mapping[taxonomy], text % values)

    def _remarks_on_columns(self) -> Iterator[Remark]:
        """Yield remarks on the id column, and on unused columns."""
        if "id" in self.mapping:
            text = _("Records are recognised by %(column)s.") % {"column": self.mapping["id"]}
        else:
            text = _(
                "Without an ID, records are recognised by their slug, or by their title. To use "
                "an ID, name its column in the mapping."
            )
        yield Remark(_("Columns"), text, "info")
        places = set(self.mapping.values())
        read = {place: _KNOWN[name] for name, place in self.mapping.items() if name in _KNOWN}
        unused: Counter[str] = Counter()
        for record in self.records:
            names = _unused_names(record, places - read.keys(), known=read)
            used = frozenset(self.used_names(record))
            unused.update(name for name in names if name not in used)
        if unused:
            listed = ", ".join(f"{name} ({number})" for name, number in unused.most_common(100))
            yield Remark(_("Columns"), _("Not used: %(names)s.") % {"names": listed})

    def used_names(self, record: JsonObject) -> Collection[str]:
        """Return the keys that the reader uses itself or ignores, whatever the mapping."""
        return ()

    def _post(
        self,
        record: JsonObject,
        source_id: str,
        title: str,
        terms: tuple[tuple[str, str], ...],
        is_wanted: bool,
    ) -> PostItem:
        place = title[:280] if title == source_id else f"{title} ({source_id})"[:280]
        modules: tuple[ModuleItem, ...] = ()
        fields: JsonObject = {}
        remarks: list[Remark] = []
        named = self._line(record, "locale")
        locale = locale_of(named) or self.options.site_locale
        if is_wanted:
            builder = ModuleBuilder(self.allowed)
            content = self._content(self._value(record, "body"))
            builder.add_blocks(content.blocks)
            modules = builder.finish()
            content.unknown.update(builder.unknown)
            fields = self._fields(record, place, remarks)
            remarks += self._remarks_on_values(record, place)
            remarks += content.remarks(place)
            if named and not locale_of(named):
                remarks.append(unknown_locale(place, named, locale))
        old_path = self._line(record, "oldPath")
        # A line has no newline, so without a site nothing matches.
        if old_path.startswith(self.options.site or "\n"):
            old_path = old_path[len(self.options.site) :] or "/"
        is_path = old_path.startswith("/") and old_path != "/"
        image = self._value(record, "image")
        dates = {name: read_date(self._value(record, name)) for name in _DATES}
        return PostItem(
            source_id=source_id,
            place=place,
            type=self.options.type,
            locale=locale,
            title=title,
            slug=self._line(record, "slug").strip("/").rsplit("/", 1)[-1],
            parent_id=self._line(record, "parent") or None,
            fields=fields,
            modules=modules,
            terms=terms,
            featured_image=next((one.address for one in files_in(image)[0]), ""),
            addresses=(old_path,) if is_path else (),
            old_paths=(old_path,) if is_path else (),
            published_at=dates["publishedAt"],
            created_at=dates["createdAt"] or dates["publishedAt"],
            updated_at=dates["updatedAt"],
            author_email=read_authors(self._value(record, "author"))[0],
            remarks=tuple(remarks),
        )

    def _fields(self, record: JsonObject, place: str, remarks: list[Remark]) -> JsonObject:
        fields: JsonObject = {}
        custom: JsonObject = {}

        for name, declared in POST_FIELDS.items():
            value = self._value(record, name)
            if name in ("title", "slug", "parentId") or value in (None, ""):
                continue
            line = self._line(record, name)
            if declared.kind == "number" and (number := _whole_number(value)) is not None:
                fields[name] = number
            elif declared.is_text and line:
                fields[name] = line
            else:
                remarks.append(_left_out(place, name, value))
        for name, prop in self.custom.items():
            value = self._value(record, f"customFields.{name}")
            if value in (None, ""):
                continue
            if prop.kind == "media":
                custom[name] = next((one.address for one in files_in(value)[0]), "")
                remarks += _remarks_on_files(place, name, value)
            elif prop.kind == "number" and isinstance(value, str):
                if (number := _whole_number(value)) is not None:
                    custom[name] = number
                else:
                    remarks.append(_left_out(place, name, value))
            else:
                custom[name] = cast("Json", value)
        return {**fields, "customFields": custom} if custom else fields

    def _content(self, value: object) -> MarkdownContent:
        content = MarkdownContent()
        if isinstance(value, Mapping | list):
            content.add_html(html_of(value, content.simpler))
            return content
        text = "" if value is None or isinstance(value, bool) else str(value)
        if self.format == "markdown":
            return read_markdown(text)
        # HTML without paragraph tags separates paragraphs with empty lines.
        has_bare_lines = self.format == "text" or "<p" not in text
        text = escape(text) if self.format == "text" else text
        content.add_html(text, has_bare_lines=has_bare_lines)
        return content

    def _remarks_on_values(self, record: JsonObject, place: str) -> list[Remark]:
        """Return remarks on the values that no field can store, and on authors without an account."""
        remarks: list[Remark] = []
        for name in ("id", "slug", "locale", "parent", "body"):
            value = self._value(record, name)
            is_held = not isinstance(value, bool) if name == "body" else self._line(record, name)
            if value not in (None, "", [], {}) and str(value).strip() and not is_held:
                remarks.append(_left_out(place, name, value))
        for name in _DATES:
            value = self._value(record, name)
            if value not in (None, "") and read_date(value) is None:
                remarks.append(_left_out(place, name, value))
        old_path = self._value(record, "oldPath")
        if old_path and not self._line(record, "oldPath").startswith(
            ("/", self.options.site or "/")
        ):
            remarks.append(_left_out(place, "oldPath", old_path))
        for taxonomy in {"tags", "topics"} & {use.slug for use in self.type.taxonomies}:
            lost = self._words(record, taxonomy)[1]
            remarks += [_left_out(place, taxonomy, value) for value in lost]
        remarks += _remarks_on_files(place, "image", self._value(record, "image"))
        author = self._value(record, "author")
        email, names = read_authors(author)
        if names:
            text = _("Author in the source: %(name)s.") % {"name": ", ".join(names)[:500]}
            remarks.append(Remark(place, text, "info"))
        elif author not in (None, "", [], {}) and not email:
            remarks.append(_left_out(place, "author", author))
        return remarks

    def _value(self, record: JsonObject, name: str) -> object:
        place = self.mapping.get(name)
        if place is None:
            return None
        # The name of a column may contain a dot.
        return record[place] if place in record else value_at(record, place)

    def _line(self, record: JsonObject, name: str) -> str:
        value = self._value(record, name)
        if isinstance(value, Mapping):
            keys = _KEYS.get(name, _IDS)
            value = next((value[key] for key in keys if value.get(key) not in (None, "")), None)
            if isinstance(value, Mapping):
                value = next((value[key] for key in _IDS if value.get(key)), None)
        if value is None or isinstance(value, bool | dict | list):
            return ""
        return " ".join(str(value).split())

    def _words(self, record: JsonObject, name: str) -> tuple[list[str], list[object]]:
        """Return the names of terms, and the invalid values."""
        value = self._value(record, name)
        if isinstance(value, Mapping | bool):
            value = [value]
        parts = value if isinstance(value, list) else re.split(r"[,;|]", str(value or ""))
        words: list[str] = []
        lost: list[object] = []
        for part in parts:
            named: object = part
            if isinstance(part, Mapping):
                # A junction row contains the term as a nested object.
                inside = next((one for one in part.values() if isinstance(one, Mapping)), {})
                named = next(
                    (one[key] for one in (part, inside) for key in _TERM_KEYS if one.get(key)), None
                )
            if isinstance(named, bool | Mapping | list) or (named is None and part is not None):
                lost.append(part)
            elif named is not None and (word := " ".join(str(named).split())):
                words.append(word)
        return words, lost

    def link_key(self, address: str, base: str) -> str:
        site = self.options.site.rstrip("/")
        if site and address.startswith(site):
            address = address[len(site) :] or "/"
        return address.split("#")[0].split("?")[0] if address.startswith("/") else ""

    def file_key(self, address: str, base: str) -> str:
        if address.startswith(("http://", "https://")):
            return address
        if self.options.site and not self.options.media:
            return urljoin(self.options.site, address)
        return address


_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("tags", "topics"), frozenset((*_TERM_KEYS, *_IDS))),
    **{name: frozenset((*_KEYS.get(name, ()), *_IDS)) for name in ("slug", "locale", "parent")},
    "image": frozenset((*_FILE_KEYS, *_FILE_HOLDERS, *_ALT_KEYS, "caption", *_IDS)),
    "author": frozenset((*_KEYS["author"], "first_name", "last_name", "firstName", "lastName")),
}
"""Keys of an object that are read for a field."""


def _unused_names(
    record: Mapping[str, object],
    places: set[str],
    above: str = "",
    *,
    known: Mapping[str, frozenset[str]],
) -> Iterator[str]:
    """Yield the names of values that the mapping does not read, also inside of mapped objects."""
    for key, value in record.items():
        name = f"{above}{key}"
        if name in places or value in (None, "", [], {}):
            continue
        if name in known:
            described = value if isinstance(value, list) else [value]
            for one in described:
                if isinstance(one, Mapping):
                    yield from (
                        f"{name}.{inner}"
                        for inner, kept in one.items()
                        if inner not in known[name] and isinstance(kept, str | list) and kept
                    )
        elif isinstance(value, Mapping) and any(
            place.startswith(f"{name}.") for place in (*places, *known)
        ):
            yield from _unused_names(value, places, f"{name}.", known=known)
        else:
            yield name


def files_in(value: object) -> tuple[list[MediaItem], list[object]]:
    """Return the files that a value names by address or object, and the other values."""
    files: list[MediaItem] = []
    lost: list[object] = []
    for one in value if isinstance(value, list) else [value]:
        if one in (None, "", [], {}):
            continue
        described = one if isinstance(one, Mapping) else {}
        holders = (described, *(described.get(key) for key in _FILE_HOLDERS))
        addresses = (
            holder[key]
            for holder in holders
            if isinstance(holder, Mapping)
            for key in _FILE_KEYS
            if isinstance(holder.get(key), str)
        )
        address = one if isinstance(one, str) else next((found for found in addresses if found), "")
        texts = [str(described[key]) for key in _ALT_KEYS if isinstance(described.get(key), str)]
        if address.strip():
            alt = next((" ".join(text.split()) for text in texts if text.strip()), "")
            files.append(MediaItem(address.strip(), alt, str(described.get("caption") or "")))
        else:
            lost.append(one)
    return files, lost


def _remarks_on_files(place: str, name: str, value: object) -> list[Remark]:
    """Return remarks on the parts of a value that a single-file field cannot store."""
    files, lost = files_in(value)
    remarks = [_left_out(place, name, one) for one in lost]
    if len(files) > 1:
        text = _("%(field)s takes only one file. These are only in the media library: %(names)s.")
        names = ", ".join(file.address for file in files[1:])
        remarks.append(Remark(place, text % {"field": name, "names": names[:1000]}))
    return remarks


def _left_out(place: str, name: str, value: object) -> Remark:
    text = _("%(field)s cannot store %(value)s; the value was left out.")
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    return Remark(place, text % {"field": name, "value": shown[:100]})


def _whole_number(value: object) -> int | None:
    found = re.fullmatch(r"\s*(-?[0-9]{1,6})(?:[.]0{1,6})?\s*", str(value), re.ASCII)
    return int(found[1]) if found and not isinstance(value, bool) else None
