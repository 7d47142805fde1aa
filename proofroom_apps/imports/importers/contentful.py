"""Imports a Contentful space that was exported as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Final, cast

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.items import Item, MediaItem, PostItem, Remark
from proofroom_apps.imports.markdown_content import MarkdownContent
from proofroom_apps.imports.record_files import RecordFile, read_text
from proofroom_apps.imports.records import RecordReader

_BODIES: Final = ("body", "content", "text", "article")
_MARKS: Final = {
    "bold": "strong", "italic": "em", "code": "code", "strikethrough": "s",
    "superscript": "sup", "subscript": "sub", "underline": "u",
}  # fmt: skip
_TAGS: Final = {
    "paragraph": "p", "blockquote": "blockquote", "unordered-list": "ul", "ordered-list": "ol",
    "list-item": "li", "table": "table", "table-row": "tr", "table-cell": "td",
    "table-header-cell": "th", **{f"heading-{level}": f"h{level}" for level in range(1, 7)},
}  # fmt: skip
# Entries have no address in an export, so links between them get one with this prefix.
_ENTRY: Final = "/contentful-entry/"
_DEEPEST: Final = 60


class ContentfulImporter(ContentImporter):
    name = "contentful"
    label = "Contentful"
    description = gettext_lazy("A space that Contentful exported as JSON.")
    suffixes = (".json",)
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        try:
            space = json.loads(read_text(path))
        except (ValueError, RecursionError) as error:
            raise RuleViolation(_("The file is not valid JSON: %(why)s") % {"why": error}) from None
        if not isinstance(space, dict) or not isinstance(space.get("entries"), list):
            raise RuleViolation(_("The file is not an export of Contentful: it has no entries."))
        return ContentfulReader(_Space(space, options), path)


class _Space:
    """The entries of an export as records, one for each language of an entry."""

    def __init__(self, space: Mapping[str, object], options: ImportOptions) -> None:
        mapping = dict(options.mapping)
        self.wanted = str(mapping.pop("contentType", ""))
        self.remarks: list[Remark] = []
        self.types = {_id(one): one for one in _objects(space.get("contentTypes"))}
        self.entries: dict[str, JsonObject] = {}
        for number, one in enumerate(_objects(space.get("entries")), 1):
            if id_ := _id(one):
                self.entries[id_] = one
            else:
                place = _("Entry %(number)s") % {"number": number}
                self.remarks.append(Remark(place, _("The item has no ID; skipped."), "error"))
        self.assets = {_id(one): one for one in _objects(space.get("assets"))}
        locales = _objects(space.get("locales"))
        codes = [str(one.get("code")) for one in locales]
        self.default = next(
            (str(one.get("code")) for one in locales if one.get("default")), (codes or ["en-US"])[0]
        )
        self.codes = codes or [self.default]
        self.tags = {_id(one): str(one.get("name")) for one in _objects(space.get("tags"))}
        bodies = {name: self._body_of(type_) for name, type_ in self.types.items()}
        self.bodies = {
            name: body for name, body in bodies.items() if body and self.wanted in ("", name)
        }
        self.records = list(self._records())
        if not self.records:
            raise RuleViolation(
                _(
                    "The export has no entries with a text. Name their type in the mapping as contentType."
                )
            )
        mapping.setdefault("body", "_body")
        mapping.setdefault("image", "_image")
        mapping.setdefault("title", "_title")
        mapping.setdefault("tags", "_tags")
        for name in ("publishedAt", "createdAt", "updatedAt"):
            mapping.setdefault(name, f"_{name}")
        self.options = options.model_copy(update={"mapping": mapping})

    def _body_of(self, type_: JsonObject) -> str:
        """Return the text field of a content type. Entries of types with one become posts."""
        texts = [
            str(one.get("id"))
            for kind in ("RichText", "Text")
            for one in _objects(type_.get("fields"))
            if one.get("type") == kind
        ]
        named = [name for name in texts if name in _BODIES]
        has_slug = any(one.get("id") == "slug" for one in _objects(type_.get("fields")))
        wanted = named or (texts if has_slug or _id(type_) == self.wanted else [])
        return wanted[0] if wanted else ""

    def _records(self) -> Iterator[JsonObject]:
        left_out: Counter[str] = Counter()
        other_locales: Counter[str] = Counter()
        for id_, entry in self.entries.items():
            type_ = self.type_of(entry)
            sys = _mapping(entry.get("sys"))
            if type_ not in self.bodies:
                left_out[type_] += 1
                continue
            if sys.get("archivedVersion"):
                text = _("It is archived in the source; skipped.")
                self.remarks.append(Remark(self.title(id_, self.default), text))
                continue
            fields = _mapping(entry.get("fields"))
            for code in self.codes:
                is_written = any(
                    isinstance(value, Mapping) and code in value for value in fields.values()
                )
                locale = code.split("-")[0]
                if not is_written:
                    continue
                # The default language is always imported, in the site's language if need be, with a remark.
                if locale not in settings.CMS_ENV.locales and code != self.default:
                    other_locales[code] += 1
                    continue
                record = {name: self.value(value, code) for name, value in fields.items()}
                metadata = _mapping(entry.get("metadata"))
                pictures = (
                    name
                    for name, one in record.items()
                    if str(_mapping(one).get("kind")).startswith("image/")
                )
                picture = next(pictures, "")
                tags = [self.tags.get(_id(one), _id(one)) for one in _objects(metadata.get("tags"))]
                yield cast(
                    "JsonObject",
                    {
                        **record,
                        "id": id_ if code == self.default else f"{id_}:{code}",
                        "locale": locale,
                        "_group": id_,
                        "_code": code,
                        "_title": self.title(id_, code),
                        "_body": record.get(self.bodies[type_]),
                        "_image": record.get(picture),
                        "_tags": [*tags, *self._words(record.get("tags"))],
                        "_published": bool(sys.get("publishedVersion")),
                        "_publishedAt": sys.get("firstPublishedAt") or sys.get("publishedAt"),
                        "_createdAt": sys.get("createdAt"),
                        "_updatedAt": sys.get("updatedAt"),
                        "_used": [
                            *("_group", "_code", "_published", "_used", "_image.kind"),
                            *(self.bodies[type_], self.title_field(type_), picture),
                        ],
                    },
                )
        for name, number in left_out.items():
            text = _("Entries of this content type have no text of their own: %(number)s left out.")
            self.remarks.append(Remark(name or "?", text % {"number": number}, "info"))
        for name, number in other_locales.items():
            text = _("The site does not have this language: %(number)s texts were left out.")
            self.remarks.append(Remark(name, text % {"number": number}))

    @staticmethod
    def _words(value: object) -> list[str]:
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    def type_of(self, entry: Mapping[str, object]) -> str:
        return _id(_mapping(entry.get("sys")).get("contentType"))

    def value(self, value: object, code: str, depth: int = 0) -> object:
        """Return a field in a language, else in the default one; links to files and entries become objects."""
        # Only the value of a whole field is an object of languages.
        if isinstance(value, Mapping) and depth == 0:
            value = value.get(code, value.get(self.default))
        if isinstance(value, list) and depth < 3:
            return [self.value(one, code, depth + 1) for one in value]
        if not isinstance(value, Mapping) or "sys" not in value:
            return value
        sys = _mapping(value["sys"])
        if sys.get("linkType") == "Asset":
            return self.asset(str(sys.get("id")), code)
        if sys.get("linkType") == "Entry":
            id_ = str(sys.get("id"))
            fields = _mapping(self.entries.get(id_, {}).get("fields"))
            email = self.value(fields.get("email") or {}, code)
            found = {"id": id_, "name": self.title(id_, code)}
            return {**found, "email": email} if isinstance(email, str) else found
        return None

    def asset(self, id_: str, code: str) -> dict[str, str]:
        fields = _mapping(self.assets.get(id_, {}).get("fields"))
        file = self.value(fields.get("file") or {}, code)
        url = str(file.get("url") or "") if isinstance(file, Mapping) else ""
        words = self.value(fields.get("description") or {}, code)
        words = words or self.value(fields.get("title") or {}, code)
        return {
            "url": f"https:{url}" if url.startswith("//") else url,
            "alt": words if isinstance(words, str) else "",
            "kind": str(_mapping(file).get("contentType") or ""),
        }

    def title_field(self, type_: str) -> str:
        return str(self.types.get(type_, {}).get("displayField") or "title")

    def title(self, id_: str, code: str) -> str:
        entry = self.entries.get(id_, {})
        name = self.title_field(self.type_of(entry))
        fields = _mapping(entry.get("fields"))
        found = self.value(fields.get(name) or {}, code)
        return " ".join(found.split()) if isinstance(found, str) else ""


class ContentfulReader(RecordReader):
    """A reader of a space. The text of embedded entries that are not posts is inserted where they are embedded."""

    def __init__(self, space: _Space, path: Path) -> None:
        self.space = space
        file = RecordFile(space.records, [str(one["id"]) for one in space.records], space.remarks)
        super().__init__(file, path, space.options, body_format="markdown")
        self.code = space.default
        self.simpler: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.embedding: list[str] = []
        """Entries that contain the text being read."""
        self.ids = {str(record["_group"]) for record in space.records}

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        for id_ in self.space.assets if not wanted else ():
            asset = self.space.asset(id_, self.space.default)
            if asset["url"] and asset["kind"].startswith(("image/", "application/pdf")):
                yield MediaItem(asset["url"], asset["alt"])
        yield from super().items(wanted)

    def used_names(self, record: JsonObject) -> Collection[str]:
        return cast("list[str]", record["_used"])

    def _post(
        self,
        record: JsonObject,
        source_id: str,
        title: str,
        terms: tuple[tuple[str, str], ...],
        is_wanted: bool,
    ) -> PostItem:
        self.code, group = str(record["_code"]), str(record["_group"])
        item = super()._post(record, source_id, title, terms, is_wanted)
        remarks = item.remarks
        if not record["_published"]:
            remarks += (Remark(item.place, _("It was a draft in the source."), "info"),)
        return replace(
            item,
            addresses=(*item.addresses, f"{_ENTRY}{group}/{self.code}"),
            translation_group=group,
            remarks=remarks,
        )

    def _content(self, value: object) -> MarkdownContent:
        if not isinstance(value, Mapping):
            return super()._content(value)
        content = MarkdownContent()
        self.simpler, self.left_out = content.simpler, content.left_out
        self.embedding = []
        content.add_html(self._html(value, 0))
        return content

    def _html(self, node: object, depth: int) -> str:
        """Return rich text as HTML."""
        if not isinstance(node, Mapping):
            return ""
        if depth > _DEEPEST:
            # The post is then reported as nested too deeply.
            raise RecursionError
        kind = str(node.get("nodeType"))
        if kind == "text":
            html = escape(str(node.get("value") or "")).replace("\n", "<br>")
            for mark in _objects(node.get("marks")):
                tag = _MARKS.get(str(mark.get("type")))
                html = f"<{tag}>{html}</{tag}>" if tag else html
            return html
        if kind == "hr":
            return "<hr>"
        data = node.get("data")
        data = data if isinstance(data, Mapping) else {}
        target = _id(data.get("target"))
        children = node.get("content")
        inside = "".join(
            self._html(one, depth + 1) for one in (children if isinstance(children, list) else ())
        )
        if kind == "hyperlink":
            return f'<a href="{escape(str(data.get("uri") or ""))}">{inside}</a>'
        if kind == "asset-hyperlink":
            return f'<a href="{escape(self.space.asset(target, self.code)["url"])}">{inside}</a>'
        if kind == "entry-hyperlink":
            return self._link(target, inside)
        if kind == "embedded-asset-block":
            return self._image(target)
        if kind == "embedded-entry-inline":
            return self._link(target, escape(self.space.title(target, self.code)))
        if kind == "embedded-entry-block":
            return self._embedded(target, depth)
        tag = _TAGS.get(kind)
        if tag is None and kind != "document":
            self.simpler[f"node {kind}"] += 1
        return f"<{tag}>{inside}</{tag}>" if tag else inside

    def _link(self, id_: str, inside: str) -> str:
        if id_ in self.ids:
            return f'<a href="{_ENTRY}{escape(id_)}/{escape(self.code)}">{inside}</a>'
        self.simpler["link to an entry that is no post"] += 1
        return inside

    def _image(self, id_: str) -> str:
        asset = self.space.asset(id_, self.code)
        if not asset["url"]:
            self.simpler["file that is not in the export"] += 1
            return f"<p>{escape(asset['alt'])}</p>"
        if not asset["kind"].startswith("image/"):
            words = escape(asset["alt"] or asset["url"].rsplit("/", 1)[-1])
            return f'<p><a href="{escape(asset["url"])}">{words}</a></p>'
        return f'<p><img src="{escape(asset["url"])}" alt="{escape(asset["alt"])}"></p>'

    def _embedded(self, id_: str, depth: int) -> str:
        """Return a link to a post, or the texts and pictures of another entry."""
        title = escape(self.space.title(id_, self.code))
        if id_ in self.ids:
            return f"<p>{self._link(id_, title)}</p>"
        entry = self.space.entries.get(id_)
        if entry is None or id_ in self.embedding:
            self.left_out["embedded entry that is not in the export, or embeds itself"] += 1
            return ""
        self.simpler[f"embedded entry of type {self.space.type_of(entry)}"] += 1
        made = [f"<p><strong>{title}</strong></p>"] if title else []
        self.embedding.append(id_)
        for name, field in _mapping(entry.get("fields")).items():
            inside = _mapping(field)
            value = inside.get(self.code, inside.get(self.space.default))
            for one in value if isinstance(value, list) else [value]:
                html = self._embedded_value(one, title, depth)
                if html is None:
                    self.left_out[f"{name} of an embedded entry"] += 1
                made.append(html or "")
        self.embedding.pop()
        return "".join(made)

    def _embedded_value(self, value: object, title: str, depth: int) -> str | None:
        """Return a value of an entry as HTML, or None if HTML cannot express it."""
        if value in (None, ""):
            return ""
        if isinstance(value, str):
            # The title of the entry is above its texts already.
            is_title = escape(" ".join(value.split())) == title
            return "" if is_title else f"<p>{escape(value)}</p>"
        if _mapping(value).get("nodeType") == "document":
            return self._html(value, depth + 1)
        link = _mapping(_mapping(value).get("sys"))
        if link.get("linkType") == "Asset":
            return self._image(str(link.get("id")))
        if link.get("linkType") == "Entry":
            return self._embedded(str(link.get("id")), depth + 1)
        return None

    def link_key(self, address: str, base: str) -> str:
        return address if address.startswith(_ENTRY) else super().link_key(address, base)


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _id(value: object) -> str:
    return str(_mapping(_mapping(value).get("sys")).get("id") or "")
