"""Imports a Ghost export: its JSON file, or a folder with that file, its pictures and its redirects."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.post_fields import EXCERPT_MAX
from media.models import DESCRIPTION_MAX
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.definitions import allowed_modules, find_post_type
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader, locale_of
from proofroom_apps.imports.dates import read_date
from proofroom_apps.imports.front_matter import read_data
from proofroom_apps.imports.ghost_content import GhostContent
from proofroom_apps.imports.items import (
    Item,
    MediaItem,
    MenuEntryItem,
    MenuItem,
    ModuleItem,
    PostItem,
    RedirectItem,
    Remark,
    TermItem,
)
from proofroom_apps.imports.media_files import MediaFiles, file_inside
from proofroom_apps.imports.record_files import read_text
from proofroom_apps.imports.wordpress_entries import plain_lines, plain_text

_SITE: Final = "__GHOST_URL__"
"""The address of the site in exports."""
_MAX_FILES: Final = 50
"""Number of JSON files of a folder that are searched for the export."""
_FILES: Final = re.compile(r"/content/(?:images|media|files)/")
_SIZE: Final = re.compile(r"/size/w\d{1,5}(?:h\d{1,5})?(?:/format/\w{1,8})?(?=/)")
_DATE: Final = re.compile(r"\.ghost\.[\d-]+(?=\.json|$)")
_NOT_POSTS: Final = frozenset({"tag", "author"})
_BARE_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?(?:\.\d+)?)", re.ASCII)
_LEFT_OUT: Final[Mapping[str, str]] = {
    "codeinjection_head": "code in the head",
    "codeinjection_foot": "code at the end",
    "custom_template": "template",
    "og_image": "picture for social networks",
    "og_title": "title for social networks",
    "og_description": "description for social networks",
    "twitter_image": "picture for X",
    "twitter_title": "title for X",
    "twitter_description": "description for X",
    "frontmatter": "front matter",
    "email_subject": "subject of the newsletter",
}
"""Values of a post without a field here, with their names in the report."""
_OTHER_TABLES: Final = (
    "members", "products", "offers", "newsletters", "snippets", "integrations", "webhooks",
    "comments", "collections", "posts_products",
)  # fmt: skip

Row = Mapping[str, object]


class GhostImporter(ContentImporter):
    name = "ghost"
    label = "Ghost"
    description = gettext_lazy(
        "A Ghost export (JSON), or a folder with the export, the folder content/images "
        "and redirects.yaml."
    )
    takes = "either"
    suffixes = (".json", ".zip")
    default_type = "blog"

    def open(self, path: Path, options: ImportOptions) -> Reader:
        return GhostReader(path, options)


class GhostReader(Reader):
    """A reader of an export. It is in memory as a whole, as Ghost itself reads it."""

    def __init__(self, path: Path, options: ImportOptions) -> None:
        self.options = options
        self.site = options.site.rstrip("/")
        folders = [Path(options.media).resolve()] if options.media else []
        if path.is_dir():
            folders.append(path.resolve())
            file, self.data = _export_in(path)
        else:
            file, self.data = path, _data_of(path)
        self.folder = path if path.is_dir() else None
        self.files = MediaFiles(tuple(folders), options.fetch)
        self.posts = self._rows("posts")
        self.tags = {str(row.get("id")): row for row in self._rows("tags")}
        self.meta = {str(row.get("post_id")): row for row in self._rows("posts_meta")}
        self.settings = {str(row.get("key")): row.get("value") for row in self._rows("settings")}
        title = str(self.settings.get("title") or "")
        # The name of an export contains its date, but a later export is the same source.
        self.scope = _DATE.sub("", options.name or self.site or title or file.name)[:300]
        self.by_slug = {_text(row, "slug"): str(row.get("id")) for row in self.posts}
        if not self.posts and not self.tags and not self.settings:
            raise RuleViolation(_("The file is not a Ghost export: it has no posts."))

    def _rows(self, table: str) -> list[Row]:
        rows = self.data.get(table)
        return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []

    def _of_posts(self, table: str, column: str) -> dict[str, list[str]]:
        """Return the ids in a table of relations, by post, in the order of the post."""
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in self._rows(table):
            order = row.get("sort_order")
            place = order if isinstance(order, int) else 0
            found[str(row.get("post_id"))].append((place, str(row.get(column))))
        return {post: [id_ for _place, id_ in sorted(ids)] for post, ids in found.items()}

    @cached_property
    def tags_of(self) -> dict[str, list[str]]:
        return self._of_posts("posts_tags", "tag_id")

    @cached_property
    def authors_of(self) -> dict[str, list[str]]:
        return self._of_posts("posts_authors", "author_id")

    @cached_property
    def users(self) -> dict[str, Row]:
        return {str(row.get("id")): row for row in self._rows("users")}

    # Items.

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        if not wanted:
            yield from self._tags()
            yield from self._pictures()
        for number, row in enumerate(self.posts, 1):
            id_ = str(row.get("id") or row.get("uuid") or _text(row, "slug"))
            place = f"{_text(row, 'title') or id_}"[:280]
            if not id_:
                if not wanted:
                    place = _("Record %(number)s") % {"number": number}
                    yield Remark(place, _("The item has no ID and no address; skipped."), "error")
                continue
            item = self.read_post(place, partial(self._post, row, id_, place), id_ in wanted)
            if isinstance(item, PostItem) or not wanted:
                yield item
        if not wanted:
            yield from self._menus()
            yield from self._redirects()
            counts = {name: len(self._rows(name)) for name in _OTHER_TABLES}
            listed = ", ".join(f"{name} ({number})" for name, number in counts.items() if number)
            if listed:
                yield Remark(_("File"), _("Left out: %(names)s.") % {"names": listed}, "info")

    def _tags(self) -> Iterator[Item]:
        internal: list[str] = []
        for id_, row in self.tags.items():
            name = _text(row, "name") or _text(row, "slug")
            if not name:
                continue
            if _is_internal(row):
                internal.append(name)
                continue
            lost = [
                key for key in ("feature_image", "og_image", "codeinjection_head") if row.get(key)
            ]
            if lost:
                text = _("Left out: %(names)s.")
                yield Remark(name, text % {"names": ", ".join(lost)}, "info")
            description = plain_lines(
                str(row.get("description") or row.get("meta_description") or "")
            )
            yield TermItem(id_, "tags", name, _text(row, "slug"), description=description)
        if internal:
            text = _("Internal tags, left out: %(names)s.")
            yield Remark(_("Tags"), text % {"names": ", ".join(internal)[:1500]}, "info")

    def _pictures(self) -> Iterator[MediaItem]:
        """Yield the feature pictures, whose texts are stored with the post."""
        for row in self.posts:
            meta = self.meta.get(str(row.get("id")), {})
            alt = plain_text(str(meta.get("feature_image_alt") or ""))
            caption = plain_text(str(meta.get("feature_image_caption") or ""))
            key = self.file_key(_text(row, "feature_image"), "")
            if key and (alt or caption):
                yield MediaItem(key, alt, caption[:DESCRIPTION_MAX])

    def _post(self, row: Row, id_: str, place: str, is_wanted: bool) -> PostItem:
        is_page = row.get("type") == "page" or row.get("page") in (True, 1)
        type_ = "page" if is_page else self.options.type
        modules: tuple[ModuleItem, ...] = ()
        fields: JsonObject = {}
        remarks: list[Remark] = []
        emails, names = self._authors(id_)
        uses = {use.slug for use in find_post_type(type_).taxonomies}
        tags = [tag for tag in self.tags_of.get(id_, ()) if tag in self.tags]
        tags = [tag for tag in tags if not _is_internal(self.tags[tag])]
        if is_wanted:
            allowed = frozenset(module.name for module in allowed_modules(type_))
            content = GhostContent(allowed)
            content.read(row)
            modules = content.builder.finish()
            fields = self._fields(row, id_)
            remarks = [*self._remarks_on(row, id_, place), *content.remarks(place)]
            if names:
                text = _("Author in the source: %(name)s.") % {"name": ", ".join(names)[:500]}
                remarks.append(Remark(place, text, "info"))
            if tags and "tags" not in uses:
                text = _("Posts of type %(type)s have no %(taxonomy)s; %(number)s left out.")
                values = {"type": type_, "taxonomy": "tags", "number": len(tags)}
                remarks.append(Remark(place, text % values))
        slug = _text(row, "slug")
        is_live = row.get("status") in ("published", "scheduled", "sent")
        published = _time(row.get("published_at")) if is_live else None
        address = f"/{slug}" if slug else ""
        return PostItem(
            source_id=id_,
            place=place,
            type=type_,
            locale=self._locale(row),
            title=_text(row, "title") or slug or _("Untitled"),
            slug=slug,
            fields=fields,
            modules=modules,
            terms=tuple(("tags", tag) for tag in tags) if "tags" in uses else (),
            featured_image=_text(row, "feature_image"),
            base=address,
            addresses=(address,) if address else (),
            old_paths=(f"{address}/",) if address and row.get("status") == "published" else (),
            published_at=published,
            created_at=_time(row.get("created_at")) or published,
            updated_at=_time(row.get("updated_at")),
            author_email=emails[0] if emails else "",
            remarks=tuple(remarks),
        )

    def _locale(self, row: Row) -> str:
        words = (_text(row, "locale"), self.options.locale, str(self.settings.get("locale") or ""))
        found = (locale_of(word) for word in (*words, str(self.settings.get("lang") or "")))
        return next((locale for locale in found if locale), self.options.site_locale)

    def _authors(self, id_: str) -> tuple[list[str], list[str]]:
        """Return the first author's address, and the names of the others."""
        rows = [self.users[user] for user in self.authors_of.get(id_, ()) if user in self.users]
        emails = [_text(row, "email") for row in rows if row.get("email")]
        names = [_text(row, "name") or _text(row, "slug") for row in rows]
        return emails[:1], [name for name in (names[1:] if emails else names) if name]

    def _fields(self, row: Row, id_: str) -> JsonObject:
        meta = {**row, **self.meta.get(id_, {})}
        fields: JsonObject = {}
        if excerpt := plain_text(str(row.get("custom_excerpt") or "")):
            fields["excerpt"] = excerpt[:EXCERPT_MAX]
        for name, key in (("metaTitle", "meta_title"), ("metaDescription", "meta_description")):
            if text := " ".join(str(meta.get(key) or "").split()):
                fields[name] = text
        if canonical := _text(row, "canonical_url"):
            fields["canonicalUrl"] = canonical.replace(_SITE, self.site)
        return fields

    def _remarks_on(self, row: Row, id_: str, place: str) -> Iterator[Remark]:
        meta = {**row, **self.meta.get(id_, {})}
        status, visibility = str(row.get("status")), str(row.get("visibility") or "public")
        if status not in ("published", "draft"):
            text = _("Its status in the source: %(status)s.") % {"status": status}
            yield Remark(place, text, "info")
        if visibility != "public":
            text = _("In the source it was for %(visibility)s only; here everyone may read it.")
            yield Remark(place, text % {"visibility": visibility})
        if row.get("featured") in (True, 1):
            yield Remark(place, _("It was featured in the source."), "info")
        lost = [name for key, name in _LEFT_OUT.items() if meta.get(key)]
        if lost:
            yield Remark(place, _("Left out: %(names)s.") % {"names": ", ".join(lost)})

    def _menus(self) -> Iterator[Item]:
        for key, slug, name in (
            ("navigation", "main", _("Navigation")),
            ("secondary_navigation", "footer", _("Secondary navigation")),
        ):
            entries = _json_list(self.settings.get(key))
            links = tuple(
                MenuEntryItem(
                    label=_text(entry, "label"),
                    address=self._site_path(_text(entry, "url")) or _text(entry, "url"),
                    post_id=self.by_slug.get(self.link_key(_text(entry, "url"), "").strip("/")),
                )
                for entry in entries
                if entry.get("url") or entry.get("label")
            )
            if links:
                yield MenuItem(key, name, slug, self._locale({}), links)

    def _redirects(self) -> Iterator[Item]:
        if self.folder is None:
            return
        for name in ("redirects.yaml", "redirects.yml", "redirects.json"):
            for below in ("", "data/", "content/data/"):
                path = file_inside(self.folder, f"{below}{name}")
                if path is not None:
                    yield from _redirects_in(path)
                    return

    # Addresses.

    def _site_path(self, address: str) -> str:
        """Return the path of an address of the site; empty for another site."""
        for begin in (_SITE, self.site):
            if begin and address.startswith(begin):
                address = address[len(begin) :] or "/"
                break
        try:
            parts = urlsplit(address)
        except ValueError:
            return ""
        is_own = not parts.scheme and not parts.netloc and parts.path.startswith("/")
        return unquote(parts.path) if is_own else ""

    def link_key(self, address: str, base: str) -> str:
        parts = self._site_path(address).strip("/").split("/")
        # Routes may put a date or a collection before the slug, but exports do not contain the routes.
        if parts[0] in _NOT_POSTS or parts[-1] not in self.by_slug or not parts[-1]:
            return ""
        return f"/{parts[-1]}"

    def is_own(self, address: str, base: str) -> bool:
        path = self._site_path(address)
        return path not in ("", "/") and not _FILES.match(path)

    def file_key(self, address: str, base: str) -> str:
        path = self._site_path(address)
        if not path:
            return address if address.startswith(("http://", "https://")) else ""
        # The original of a resized picture.
        path = _SIZE.sub("", path)
        return f"{self.site}{path}" if self.site else path

    def linked_file_key(self, address: str, base: str) -> str:
        path = self._site_path(address)
        return self.file_key(address, base) if _FILES.match(path) and "/images/" in path else ""


def _export_in(folder: Path) -> tuple[Path, Mapping[str, object]]:
    """Return the export in a folder, and its tables. Raises `RuleViolation`."""
    found = sorted(
        path
        for pattern in ("*.json", "data/*.json", "content/data/*.json")
        for path in folder.glob(pattern)
        if not path.is_symlink() and path.is_file() and not path.name.startswith("redirects")
    )
    for path in found[:_MAX_FILES]:
        try:
            return path, _data_of(path)
        except RuleViolation:
            continue
    raise RuleViolation(_("The folder has no Ghost export: put its JSON file there."))


def _data_of(path: Path) -> Mapping[str, object]:
    """Return the tables of an export. Raises `RuleViolation`."""
    try:
        found = json.loads(read_text(path))
    except RecursionError:
        raise RuleViolation(_("The file is nested too deeply.")) from None
    except ValueError as error:
        raise RuleViolation(_("The file is not valid JSON: %(why)s") % {"why": error}) from None
    if isinstance(found, Mapping) and isinstance(found.get("db"), list) and found["db"]:
        found = found["db"][0]
    data = found.get("data") if isinstance(found, Mapping) else None
    if not isinstance(data, Mapping):
        raise RuleViolation(_("The file is not a Ghost export: it has no posts."))
    return data


def _redirects_in(path: Path) -> Iterator[Item]:
    """Yield the redirects of a file of Ghost. Patterns become remarks."""
    pairs: list[tuple[str, str]] = []
    if path.suffix == ".json":
        try:
            rows = json.loads(read_text(path))
        except (ValueError, RecursionError, RuleViolation):
            yield Remark(path.name, _("The redirects cannot be read."), "error")
            return
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, Mapping):
                pairs.append((_text(row, "from"), _text(row, "to")))
    else:
        for group in read_data(path).values():
            for begin, end in group.items() if isinstance(group, Mapping) else ():
                pairs.append((str(begin), str(end)))
    patterns: Counter[str] = Counter()
    for begin, end in pairs:
        plain = begin.removeprefix("^").removesuffix("$").replace("\\/", "/")
        plain = plain.removesuffix("/?") if plain.endswith("/?") else plain
        if not plain.startswith("/") or re.search(r"[\\^$*+?()\[\]{}|]", plain):
            patterns[begin[:200]] += 1
        elif end:
            yield RedirectItem(plain, to_address=end)
    if patterns:
        text = _("Redirects of patterns, left out: %(names)s.")
        yield Remark(path.name, text % {"names": ", ".join(patterns)[:1500]})


def _is_internal(tag: Row) -> bool:
    return tag.get("visibility") == "internal" or _text(tag, "name").startswith("#")


def _text(row: Row, key: str) -> str:
    value = row.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _time(value: object) -> datetime | None:
    # Ghost writes times in UTC, older versions without saying so.
    if isinstance(value, str) and (bare := _BARE_TIME.fullmatch(value.strip())):
        value = f"{bare[1]}T{bare[2]}Z"
    return read_date(value)


def _json_list(value: object) -> list[Row]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
