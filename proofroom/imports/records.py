"""Records of a file, such as rows of CSV or objects of JSON, as posts: a mapping says what fills which field."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from io import StringIO
from pathlib import Path
from typing import Final, cast
from urllib.parse import urljoin

from django.utils.translation import gettext as _

from content.post_fields import POST_FIELDS
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import allowed_modules, find_post_type, props_of
from proofroom.imports.content_source import ImportOptions, Reader, locale_of, unknown_locale
from proofroom.imports.html_reader import blocks_of_html
from proofroom.imports.items import Item, ModuleItem, PostItem, Remark, TermItem
from proofroom.imports.markdown_content import MarkdownContent, read_markdown
from proofroom.imports.media_files import MediaFiles
from proofroom.imports.module_builder import ModuleBuilder
from proofroom.imports.rich_text import html_of

LARGEST_FILE: Final = 200 * 1024 * 1024
DELIMITERS: Final = ",;\t|"
BODY_FORMATS: Final = ("html", "markdown", "text")
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "documentId", "_id", "uuid", "key"),
    "title": ("title", "name", "headline"),
    "slug": ("slug",),
    "body": ("body", "content", "text", "html", "markdown"),
    "locale": ("locale", "language", "lang"),
    "parent": ("parent", "parentId", "parent_id"),
    "author": ("author", "author_email", "authorEmail"),
    "image": ("image", "featured_image", "featuredImage", "cover", "thumbnail"),
    "tags": ("tags",),
    "topics": ("topics", "categories", "category"),
    "oldPath": ("oldPath", "old_path", "path", "url"),
    "orderIndex": ("orderIndex", "order", "sort"),
    "excerpt": ("excerpt", "summary", "teaser"),
    "metaTitle": ("metaTitle", "meta_title", "seo_title"),
    "metaDescription": ("metaDescription", "meta_description", "description"),
}
"""What a record can fill, and the names that are looked for without a mapping."""
_SETTINGS: Final = frozenset({"items", "format"})


@dataclass(frozen=True, slots=True)
class RecordFile:
    """The records of a file, each with its place, and what there is to say of the rest."""

    records: list[JsonObject]
    places: list[str]
    remarks: list[Remark]


def read_csv(path: Path) -> RecordFile:
    """The rows of a file with a header, apart by commas, semicolons, tabs or bars.

    A row that has more cells than the header is an error of the report. Raises `RuleViolation`.
    """
    text, remarks = _decoded(path)
    named = re.match(r"sep=(.)\r?\n", text)
    text = text[named.end() :] if named else text
    csv.field_size_limit(10_000_000)
    rows = csv.reader(
        StringIO(text, newline=""),
        delimiter=named[1] if named else _delimiter_of(text),
        skipinitialspace=True,
        strict=True,
    )
    found = RecordFile([], [], remarks)
    header: list[str] = []
    start = 1
    try:
        for cells in rows:
            line, start = start + bool(named), rows.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                doubled = next((name for name in header if name and header.count(name) > 1), "")
                if doubled:
                    text = _("Line %(line)s: two columns are named %(name)s. Rename one.")
                    raise RuleViolation(text % {"line": line, "name": doubled[:100]})
                continue
            place = _("Line %(number)s") % {"number": line}
            extra = cells[len(header) :]
            nameless = [cell for name, cell in zip(header, cells, strict=False) if not name]
            if any(cell.strip() for cell in (*extra, *nameless)):
                message = _("It has text in a cell that no column of the header names; skipped.")
                found.remarks.append(Remark(place, message, "error"))
                continue
            record: JsonObject = {
                name: cell for name, cell in zip(header, cells, strict=False) if name
            }
            found.records.append(record)
            found.places.append(place)
    except csv.Error as error:
        why = _("line %(line)s: %(why)s") % {"line": start + bool(named), "why": error}
        raise RuleViolation(_("The file is not valid CSV: %(why)s") % {"why": why}) from None
    return found


def _delimiter_of(text: str) -> str:
    """What stands most often in the header, outside of quoted names."""
    header = re.match(r'\s*((?:"(?:[^"]|"")*"|[^"\r\n])+)', text)
    names = re.sub(r'"(?:[^"]|"")*"', "", header[1]) if header else ""
    return max(DELIMITERS, key=names.count)


def read_json(path: Path, place: str = "") -> RecordFile:
    """The objects of a list, of the list at a place like `data.items`, or of lines. Raises `RuleViolation`."""
    text, remarks = _decoded(path)
    try:
        found = json.loads(text)
    except RecursionError:
        raise RuleViolation(_("The file is nested too deeply.")) from None
    except ValueError as error:
        lines = [line for line in text.split("\n") if line.strip()]
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            raise RuleViolation(_("The file is not valid JSON: %(why)s") % {"why": error}) from None
    found = value_at(found, place) if place else found
    if isinstance(found, Mapping) and not place:
        lists = {key: value for key, value in found.items() if isinstance(value, list) and value}
        usual = [key for key in ("data", "items", "posts", "entries") if key in lists]
        for key in [*lists] if usual else []:
            if key != usual[0]:
                why = _("Not read: the list %(name)s. The mapping can name it as items.")
                remarks.append(Remark(_("File"), why % {"name": key}))
        found = lists[usual[0]] if usual else [found]
    if not isinstance(found, list):
        raise invalid(
            "mapping",
            _(
                "The file has no list of objects at this level. Specify its key as "
                "items in the mapping."
            ),
        )
    records: list[JsonObject] = []
    places: list[str] = []
    for number, one in enumerate(found, 1):
        place = _("Record %(number)s") % {"number": number}
        if isinstance(one, dict):
            records.append(one)
            places.append(place)
        else:
            remarks.append(Remark(place, _("It is not an object; skipped."), "error"))
    return RecordFile(records, places, remarks)


def _decoded(path: Path) -> tuple[str, list[Remark]]:
    text, encoding = _decode(path)
    if encoding.startswith("utf"):
        return text, []
    message = _("The file is not UTF-8; it was read as Windows-1252.")
    return text, [Remark(path.name, message)]


def read_text(path: Path) -> str:
    """The text of a file, whatever its encoding. Raises `RuleViolation`."""
    return _decode(path)[0]


def _decode(path: Path) -> tuple[str, str]:
    if path.stat().st_size > LARGEST_FILE:
        raise RuleViolation(
            _("The file is larger than %(most)s MB.") % {"most": LARGEST_FILE // 1024**2}
        )
    content = path.read_bytes()
    beginning = content[:2000]
    zeros = [beginning[start::2].count(0) * 4 > len(beginning) // 2 for start in (0, 1)]
    encodings = ["utf-8-sig", "cp1252"]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif zeros[0] != zeros[1]:
        encodings = ["utf-16-be" if zeros[0] else "utf-16-le"]
    for encoding in encodings:
        try:
            return content.decode(encoding).replace("\x00", ""), encoding
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1").replace("\x00", ""), "latin-1"


def value_at(value: object, place: str) -> object:
    """The value at a place like `seo.title` or `authors.0.name`; None where there is none."""
    for part in place.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


class RecordReader(Reader):
    """Records with a mapping. `body_format` says what their text is, where the mapping does not."""

    def __init__(
        self, file: RecordFile, path: Path, options: ImportOptions, body_format: str = "html"
    ) -> None:
        self.file, self.records, self.options = file, file.records, options
        # Two files of one name in different folders are two sources.
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
        """The place in a record of each field that is filled."""
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
            column = next((alias for alias in aliases if alias in columns), None)
            if name not in found and column is not None and column not in found.values():
                found[name] = column
        for name in self.custom:
            if name in columns:
                found.setdefault(f"customFields.{name}", name)
        if "title" not in found:
            raise invalid("mapping", _("Specify in the mapping which column is the title."))
        return found

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        if not wanted:
            yield from self.file.remarks
            yield from self._remarks_on_columns()
        uses = {use.slug for use in self.type.taxonomies}
        left_out: Counter[str] = Counter()
        seen: set[tuple[str, str]] = set()
        for place, record in zip(self.file.places, self.records, strict=True):
            title = self._line(record, "title")
            if not title:
                if not wanted:
                    yield Remark(place, _("No title; skipped."), "error")
                continue
            source_id = self._line(record, "id") or self._line(record, "slug") or title
            terms: list[tuple[str, str]] = []
            for taxonomy in ("tags", "topics"):
                words = self._words(record, taxonomy)
                if taxonomy not in uses:
                    left_out[taxonomy] += len(words)
                    continue
                for word in words:
                    terms.append((taxonomy, word))
                    if (taxonomy, word) not in seen:
                        seen.add((taxonomy, word))
                        yield TermItem(word, taxonomy, word)
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
        """What records are known by, and what nothing is made of."""
        if "id" in self.mapping:
            text = _("Records are recognized by %(column)s.") % {"column": self.mapping["id"]}
        else:
            text = _(
                "Without an id, records are recognized by their slug, or else by their title. "
                "The mapping can name the column of an id."
            )
        yield Remark(_("Columns"), text, "info")
        places = set(self.mapping.values())
        unused: Counter[str] = Counter(
            name for record in self.records for name in _unused_names(record, places)
        )
        if unused:
            listed = ", ".join(f"{name} ({number})" for name, number in unused.most_common(100))
            yield Remark(_("Columns"), _("Not used: %(names)s.") % {"names": listed})

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
            remarks += content.remarks(place)
            if named and not locale_of(named):
                remarks.append(unknown_locale(place, named, locale))
        old_path = self._line(record, "oldPath")
        if old_path.startswith(self.options.site or "\n"):
            old_path = old_path[len(self.options.site) :] or "/"
        is_path = old_path.startswith("/") and old_path != "/"
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
            featured_image=self._address(self._value(record, "image")),
            addresses=(old_path,) if is_path else (),
            old_paths=(old_path,) if is_path else (),
            author_email=self._line(record, "author"),
            remarks=tuple(remarks),
        )

    def _fields(self, record: JsonObject, place: str, remarks: list[Remark]) -> JsonObject:
        fields: JsonObject = {}
        custom: JsonObject = {}

        def leave_out(name: str, value: object) -> None:
            text = _("%(field)s cannot hold %(value)s; it was left out.")
            shown = value if isinstance(value, str) else json.dumps(value, default=str)
            remarks.append(Remark(place, text % {"field": name, "value": shown[:100]}))

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
                leave_out(name, value)
        for name, prop in self.custom.items():
            value = self._value(record, f"customFields.{name}")
            if value in (None, ""):
                continue
            if prop.kind == "media":
                custom[name] = self._address(value)
            elif prop.kind == "number" and isinstance(value, str):
                if (number := _whole_number(value)) is not None:
                    custom[name] = number
                else:
                    leave_out(name, value)
            else:
                custom[name] = cast("Json", value)
        return {**fields, "customFields": custom} if custom else fields

    def _content(self, value: object) -> MarkdownContent:
        content = MarkdownContent()
        if isinstance(value, Mapping | list):
            content.blocks = blocks_of_html(html_of(value, content.simpler))
            return content
        text = "" if value is None or isinstance(value, bool) else str(value)
        if self.format == "markdown":
            return read_markdown(text)
        has_bare_lines = self.format == "text" or "<p" not in text
        text = escape(text) if self.format == "text" else text
        content.blocks = blocks_of_html(text, has_bare_lines=has_bare_lines)
        return content

    def _value(self, record: JsonObject, name: str) -> object:
        place = self.mapping.get(name)
        if place is None:
            return None
        return record[place] if place in record else value_at(record, place)

    def _line(self, record: JsonObject, name: str) -> str:
        value = self._value(record, name)
        if isinstance(value, Mapping):  # a reference to another record
            value = value.get("id") or value.get("documentId")
        if value is None or isinstance(value, bool | dict | list):
            return ""
        return " ".join(str(value).split())

    def _words(self, record: JsonObject, name: str) -> list[str]:
        value = self._value(record, name)
        if isinstance(value, Mapping):
            value = [value]
        parts = value if isinstance(value, list) else re.split(r"[,;|]", str(value or ""))
        words: list[str] = []
        for part in parts:
            if isinstance(part, Mapping):
                part = part.get("name") or part.get("title") or part.get("slug")
            if part not in (None, "") and (word := " ".join(str(part).split())):
                words.append(word)
        return words

    def _address(self, value: object) -> str:
        """The address of a file: itself, or in an object that describes it."""
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, Mapping):
            value = value.get("url") or value.get("src") or value.get("filename_disk")
        return value.strip() if isinstance(value, str) else ""

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


def _unused_names(record: Mapping[str, object], places: set[str], above: str = "") -> Iterator[str]:
    """The names of values that no place of the mapping reads, those beside a place inside an object too."""
    for key, value in record.items():
        name = f"{above}{key}"
        if name in places or value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping) and any(place.startswith(f"{name}.") for place in places):
            yield from _unused_names(value, places, f"{name}.")
        elif above or not name.startswith("_"):
            yield name


def _whole_number(value: object) -> int | None:
    found = re.fullmatch(r"\s*(-?[0-9]{1,6})(?:[.]0{1,6})?\s*", str(value), re.ASCII)
    return int(found[1]) if found and not isinstance(value, bool) else None
