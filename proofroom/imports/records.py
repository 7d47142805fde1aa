"""Records of a file, such as rows of CSV or objects of JSON, as posts: a mapping says what fills which field."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from io import StringIO
from pathlib import Path
from typing import Final, cast
from urllib.parse import urljoin

from django.conf import settings
from django.utils.translation import gettext as _

from content.post_fields import POST_FIELDS
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import allowed_modules, find_post_type, props_of
from proofroom.imports.content_source import ImportOptions, Reader
from proofroom.imports.html_reader import blocks_of_html
from proofroom.imports.items import Item, ModuleItem, PostItem, Remark, TermItem
from proofroom.imports.markdown_content import MarkdownContent, read_markdown
from proofroom.imports.media_files import MediaFiles
from proofroom.imports.module_builder import ModuleBuilder

LARGEST_FILE: Final = 200 * 1024 * 1024
BODY_FORMATS: Final = ("html", "markdown", "text")
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "documentId", "_id", "uuid", "key"),
    "title": ("title", "name", "headline"),
    "slug": ("slug",),
    "body": ("body", "content", "text", "html", "markdown"),
    "locale": ("locale", "language", "lang"),
    "parent": ("parent", "parentId", "parent_id"),
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


def read_csv(path: Path) -> list[JsonObject]:
    """The rows of a file with a header, apart by commas, semicolons or tabs. Raises `RuleViolation`."""
    text = read_text(path)
    try:
        dialect: type[csv.Dialect] | str = csv.Sniffer().sniff(text[:10_000], ",;\t|")
    except csv.Error:
        dialect = "excel"
    csv.field_size_limit(10_000_000)
    try:
        rows = csv.DictReader(StringIO(text, newline=""), dialect=dialect, restkey="")
        return [{str(name): value for name, value in row.items() if name} for row in rows]
    except csv.Error as error:
        raise RuleViolation(_("The file is not valid CSV: %(why)s") % {"why": error}) from None


def read_json(path: Path, place: str = "") -> list[JsonObject]:
    """The objects of a list, of the list at a place like `data.items`, or of lines. Raises `RuleViolation`."""
    text = read_text(path)
    try:
        found = json.loads(text)
    except RecursionError:
        raise RuleViolation(_("The file is nested too deeply.")) from None
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            raise RuleViolation(_("The file is not valid JSON: %(why)s") % {"why": error}) from None
    found = value_at(found, place) if place else found
    if isinstance(found, Mapping) and not place:
        lists = [
            value
            for key in ("data", "items", "posts", "entries")
            if isinstance(value := found.get(key), list)
        ]
        found = lists[0] if lists else [found]
    if not isinstance(found, list):
        raise invalid(
            "mapping",
            _(
                "The file has no list of objects at this level. Specify its key as "
                "items in the mapping."
            ),
        )
    return [one for one in found if isinstance(one, dict)]


def read_text(path: Path) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise RuleViolation(
            _("The file is larger than %(most)s MB.") % {"most": LARGEST_FILE // 1024**2}
        )
    content = path.read_bytes()
    for encoding in (
        ("utf-16",) if content.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252")
    ):
        try:
            return content.decode(encoding).replace("\x00", "")
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1").replace("\x00", "")


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
        self,
        records: Sequence[JsonObject],
        path: Path,
        options: ImportOptions,
        body_format: str = "html",
    ) -> None:
        self.records, self.options = records, options
        self.scope = f"{options.name or path.name}#{options.type}"[:300]
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
        columns = {column for record in self.records[:200] for column in record}
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
        uses = {use.slug for use in self.type.taxonomies}
        seen: set[tuple[str, str]] = set()
        for number, record in enumerate(self.records, 1):
            source_id = self._line(record, "id") or str(number)
            title = self._line(record, "title")
            if not title:
                if not wanted:
                    place = _("Record %(number)s") % {"number": number}
                    yield Remark(place, _("No title; skipped."), "error")
                continue
            terms: list[tuple[str, str]] = []
            for taxonomy in ("tags", "topics"):
                for word in self._words(record, taxonomy) if taxonomy in uses else ():
                    terms.append((taxonomy, word))
                    if (taxonomy, word) not in seen:
                        seen.add((taxonomy, word))
                        yield TermItem(word, taxonomy, word)
            yield self._post(record, source_id, title, tuple(terms), source_id in wanted)

    def _post(
        self,
        record: JsonObject,
        source_id: str,
        title: str,
        terms: tuple[tuple[str, str], ...],
        is_wanted: bool,
    ) -> PostItem:
        place = f"{title} ({source_id})"[:280]
        modules: tuple[ModuleItem, ...] = ()
        remarks: list[Remark] = []
        if is_wanted:
            builder = ModuleBuilder(self.allowed)
            content = self._content(self._value(record, "body"))
            builder.add_blocks(content.blocks)
            modules = builder.finish()
            content.unknown.update(builder.unknown)
            remarks += content.remarks(place)
        locale = self._line(record, "locale").split("-")[0]
        old_path = self._line(record, "oldPath")
        if old_path.startswith(self.options.site or "\n"):
            old_path = old_path[len(self.options.site) :] or "/"
        is_path = old_path.startswith("/") and old_path != "/"
        return PostItem(
            source_id=source_id,
            place=place,
            type=self.options.type,
            locale=locale if locale in settings.CMS_ENV.locales else self.options.site_locale,
            title=title,
            slug=self._line(record, "slug").strip("/").rsplit("/", 1)[-1],
            parent_id=self._line(record, "parent") or None,
            fields=self._fields(record),
            modules=modules,
            terms=terms,
            featured_image=self._address(self._value(record, "image")),
            addresses=(old_path,) if is_path else (),
            old_paths=(old_path,) if is_path else (),
            remarks=tuple(remarks),
        )

    def _fields(self, record: JsonObject) -> JsonObject:
        fields: JsonObject = {}
        custom: JsonObject = {}
        for name, declared in POST_FIELDS.items():
            value = self._line(record, name)
            if name in ("title", "slug", "parentId") or not value:
                continue
            if declared.kind == "number":
                if re.fullmatch(r"-?[0-9]{1,6}", value, re.ASCII):
                    fields[name] = int(value)
            elif declared.is_text:
                fields[name] = value
        for name, prop in self.custom.items():
            value_of = self._value(record, f"customFields.{name}")
            if value_of in (None, ""):
                continue
            if prop.kind == "media":
                custom[name] = self._address(value_of)
            elif prop.kind == "number" and isinstance(value_of, str):
                custom[name] = int(value_of) if value_of.strip().lstrip("-").isdigit() else None
            else:
                custom[name] = cast("Json", value_of)
        return {**fields, "customFields": custom} if custom else fields

    def _content(self, value: object) -> MarkdownContent:
        if isinstance(value, list):
            return MarkdownContent(blocks_of_html("".join(_slate_html(node) for node in value)))
        text = value if isinstance(value, str) else ""
        if self.format == "markdown":
            return read_markdown(text)
        if self.format == "text":
            return MarkdownContent(blocks_of_html(escape(text), has_bare_lines=True))
        return MarkdownContent(blocks_of_html(text, has_bare_lines="<p" not in text))

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
        parts = value if isinstance(value, list) else re.split(r"[,;|]", str(value or ""))
        words: list[str] = []
        for part in parts[:200]:
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


def _slate_html(node: object, depth: int = 0) -> str:
    """Rich text as lists of nodes (Strapi's blocks, Slate) as HTML."""
    if not isinstance(node, Mapping) or depth > 20:
        return ""
    text = node.get("text")
    if isinstance(text, str):
        html = escape(text).replace("\n", "<br>")
        for name, tag in (
            ("bold", "strong"),
            ("italic", "em"),
            ("strikethrough", "s"),
            ("code", "code"),
        ):
            html = f"<{tag}>{html}</{tag}>" if node.get(name) else html
        return html
    children = node.get("children")
    inside = "".join(
        _slate_html(child, depth + 1) for child in (children if isinstance(children, list) else ())
    )
    image = node.get("image")
    match node.get("type"):
        case "heading":
            level = node.get("level")
            number = level if isinstance(level, int) and 1 <= level <= 6 else 2
            return f"<h{number}>{inside}</h{number}>"
        case "list":
            tag = "ol" if node.get("format") == "ordered" else "ul"
            return f"<{tag}>{inside}</{tag}>"
        case "list-item":
            return f"<li>{inside}</li>"
        case "link":
            return f'<a href="{escape(str(node.get("url") or ""))}">{inside}</a>'
        case "quote":
            return f"<blockquote><p>{inside}</p></blockquote>"
        case "code":
            return f"<pre><code>{inside}</code></pre>"
        case "image" if isinstance(image, Mapping):
            source, alt = str(image.get("url") or ""), str(image.get("alternativeText") or "")
            return f'<p><img src="{escape(source)}" alt="{escape(alt)}"></p>'
    return f"<p>{inside}</p>"
