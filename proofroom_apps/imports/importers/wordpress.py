"""Imports a WordPress export file (WXR)."""

from __future__ import annotations

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Final
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree.ElementTree import Element, ParseError

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.post_fields import EXCERPT_MAX
from media.models import ALT_TEXT_MAX, DESCRIPTION_MAX
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.slugs import slug_of
from proofroom.definitions import allowed_modules, find_post_type, post_types, taxonomies
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader, locale_of, unknown_locale
from proofroom_apps.imports.items import (
    Item,
    MediaItem,
    MenuEntryItem,
    MenuItem,
    PostItem,
    Remark,
    TermItem,
)
from proofroom_apps.imports.media_files import MediaFiles, path_in
from proofroom_apps.imports.wordpress_content import Block, WordPressContent, parse_blocks
from proofroom_apps.imports.wordpress_entries import (
    TAXONOMIES,
    WordPressEntry,
    dropped_from_plain_text,
    entry_of,
    find_alt_texts,
    local_name,
    plain_text,
    resolve_address,
    shorten,
    term_of,
    text_of,
)
from proofroom_apps.imports.xml_stream import open_xml

_TYPES: Final[Mapping[str, str]] = {"post": "blog", "page": "page"}
_LIVE: Final = frozenset({"publish", "private", "future"})
_STATES: Final = frozenset({"private", "future", "pending"})
_OWN_META: Final = re.compile(
    r"_(?:edit_|wp_|thumbnail_id$|menu_item_|oembed_|encloseme$|pingme$|wpml_|icl_|dp_original$|aioseo_|yoast_wpseo_"
    r"(?!canonical|meta-robots|redirect|opengraph|twitter)|genesis_(?:title|description)$|wpas_|jetpack_|publicize_)"
)
"""Meta keys that WordPress and plugins use internally, or that are imported as fields."""
_ACF_KEY: Final = re.compile(r"field_[0-9a-z_]+")
"""Key of a field definition, which Advanced Custom Fields stores next to each value."""
_LEFT_OUT: Final = frozenset({"auto-draft", "trash", "inherit"})
_SILENT: Final = frozenset(
    {
        "revision",
        "customize_changeset",
        "custom_css",
        "oembed_cache",
        "wp_global_styles",
        "user_request",
    }
    | {"wp_navigation", "wp_template", "wp_template_part", "wp_font_family", "wp_font_face"}
)
_IMAGE: Final = re.compile(r"\.(jpe?g|png|gif|webp|avif|pdf)$", re.IGNORECASE)
_SIZE: Final = re.compile(r"-(?:\d{1,5}x\d{1,5}|scaled|rotated)(?=\.\w{2,5}$)")
_REUSED: Final = re.compile(r'<!--\s+wp:block\s+\{[^{}]*"ref":\s*(\d+)')
_SYSTEM_DOMAINS: Final = frozenset(
    {"nav_menu", "language", "post_translations", "wp_theme", "wp_pattern_category"}
)
_PLACEHOLDER: Final = re.compile(r"%%?[a-z][\w-]*%", re.IGNORECASE)
"""Placeholders that plugins replace with a value of the site."""
_TITLES: Final = ("_yoast_wpseo_title", "rank_math_title", "_aioseo_title")
_DESCRIPTIONS: Final = (
    "_yoast_wpseo_metadesc", "rank_math_description", "_aioseo_description", "_genesis_description",
)  # fmt: skip


class WordPressImporter(ContentImporter):
    name = "wordpress"
    label = "WordPress"
    description = gettext_lazy("A WordPress export file (WXR, from Tools › Export).")
    takes = "file"
    suffixes = (".xml", ".wxr")
    default_type = "blog"

    def open(self, path: Path, options: ImportOptions) -> Reader:
        return WordPressReader(path, options)


@dataclass(slots=True)
class _Index:
    """Data of the whole file that is needed while reading posts."""

    hosts: set[str] = field(default_factory=set)
    attachments: dict[str, str] = field(default_factory=dict)
    attached: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    by_path: dict[str, str] = field(default_factory=dict)
    reusable: dict[str, str] = field(default_factory=dict)
    other_terms: Counter[str] = field(default_factory=Counter)
    """Number of terms of posts in taxonomies that this site lacks."""
    menus: dict[str, tuple[str, list[WordPressEntry]]] = field(default_factory=dict)
    navigation: list[WordPressEntry] = field(default_factory=list)
    """Navigation menus of block themes."""
    authors: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Address and name of each author, by login."""
    types: dict[str, str] = field(default_factory=dict)
    """Type of each post, by id."""
    term_names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Name of each term, by its domain and its id or slug, since menus name terms that way."""
    alts: dict[str, str] = field(default_factory=dict)
    """Alternative text of each file: its own, else that of its first use."""
    used_blocks: set[str] = field(default_factory=set)
    """Ids of the reusable blocks that a post shows."""


class WordPressReader(Reader):
    """A reader of a WXR file. It is streamed: only addresses, menus and shared blocks are in memory."""

    def __init__(self, path: Path, options: ImportOptions) -> None:
        self.path, self.options = path, options
        media = (Path(options.media).resolve(),) if options.media else ()
        self.files = MediaFiles(media, options.fetch)
        self.remarks: list[Remark] = []
        self.said: set[Remark] = set()
        self.terms: list[TermItem] = []
        self.index = _Index()
        self.site = options.site.rstrip("/")
        self._read_index()
        self.scope = options.name or self.site or path.name
        self.allowed = {
            name: frozenset(module.name for module in allowed_modules(name))
            for name in post_types.names()
        }

    # The file.

    def _entries(self) -> Iterator[WordPressEntry | TermItem]:
        """Yield every item and term in file order. Broken XML ends it with a remark."""
        with self.path.open("rb") as file:
            yield from self._stream(file)

    def _stream(self, file: IO[bytes]) -> Iterator[WordPressEntry | TermItem]:
        path: list[Element] = []
        number = 0
        try:
            for event, element in open_xml(file):
                if event == "start":
                    path.append(element)
                    continue
                path.pop()
                name = local_name(element.tag)
                depth = len(path)
                if depth == 2 and name == "item":
                    number += 1
                    yield entry_of(element)
                elif depth == 2 and name in ("category", "tag", "term"):
                    self._note_term(element, name)
                    if (term := term_of(element, name)) is not None:
                        yield term
                elif depth == 2 and name == "author":
                    values = {local_name(child.tag): text_of(child).strip() for child in element}
                    self.index.authors[values.get("author_login", "")] = (
                        values.get("author_email", ""),
                        html.unescape(values.get("author_display_name", "")),
                    )
                elif depth == 2 and name in ("link", "base_site_url", "base_blog_url"):
                    self._add_host(text_of(element))
                # Drop the elements that were read: otherwise the whole file would be in memory at the end.
                if depth <= 2:
                    element.clear()
                    if path:
                        path[-1].remove(element)
        except ParseError as error:
            # Without any item it is another file; after one, the items before the damage are imported.
            if number == 0:
                raise RuleViolation(
                    _("The file is not a WordPress export: %(why)s") % {"why": error}
                ) from None
            message = _("The file is damaged after item %(number)s. The rest was not read: %(why)s")
            self._remark_once(
                Remark(self.path.name, message % {"number": number, "why": error}, "error")
            )

    def _note_term(self, element: Element, kind: str) -> None:
        """Record the name of a term, which menus need, and the parts of its description that are lost."""
        values = {local_name(child.tag): text_of(child).strip() for child in element}
        domain = {"category": "category", "tag": "post_tag"}.get(
            kind, values.get("term_taxonomy", "")
        )
        name = html.unescape(
            values.get("cat_name") or values.get("tag_name") or values.get("term_name") or ""
        )
        self.index.term_names[domain, values.get("term_id", "")] = name
        names = ("category_description", "tag_description", "term_description")
        description = next((values[one] for one in names if values.get(one)), "")
        if TAXONOMIES.get(domain, domain) in taxonomies and (
            lost := dropped_from_plain_text(description)
        ):
            text = _("Links and images of the description, left out: %(names)s.")
            self._remark_once(Remark(name, text % {"names": ", ".join(lost)}))

    def _add_host(self, address: str) -> None:
        try:
            host = urlsplit(address.strip()).hostname
        except ValueError:
            return
        if host:
            # Content links to its site with and without `www.`.
            self.index.hosts.add(host.removeprefix("www."))
            self.site = self.site or address.strip().rstrip("/")

    def _remark_once(self, remark: Remark) -> None:
        # The file is read once for the index, and again for each level of posts.
        if remark not in self.said:
            self.said.add(remark)
            self.remarks.append(remark)

    def _read_index(self) -> None:
        index = self.index
        if self.site:
            self._add_host(self.site)
        has_items = False
        seen: set[tuple[str, str]] = set()
        shown: dict[str, str] = {}
        for entry in self._entries():
            has_items = True
            if isinstance(entry, TermItem):
                seen.add((entry.taxonomy, entry.source_id))
                self.terms.append(entry)
                continue
            index.types[entry.post_id] = entry.type
            for domain, slug, name in entry.terms:
                taxonomy = TAXONOMIES.get(domain, domain)
                if taxonomy in taxonomies and (taxonomy, slug) not in seen:
                    seen.add((taxonomy, slug))
                    self.terms.append(TermItem(slug, taxonomy, name or slug, slug))
                if taxonomy not in taxonomies and domain not in _SYSTEM_DOMAINS:
                    index.other_terms[domain] += 1
                if domain == "nav_menu" and entry.type == "nav_menu_item":
                    index.menus.setdefault(slug, (name or slug, []))[1].append(entry)
            index.used_blocks.update(_REUSED.findall(entry.content))
            if entry.type == "attachment":
                address = entry.attachment or entry.guid
                if alt := entry.meta.get("_wp_attachment_image_alt", ""):
                    index.alts[address] = " ".join(alt.split())
                index.attachments[entry.post_id] = address
                if _IMAGE.search(path_in(address)):
                    index.attached[entry.parent].append(address)
                index.by_path[_file_path(address)] = address
            elif entry.type == "wp_block":
                index.reusable[entry.post_id] = entry.content
            elif entry.type == "wp_navigation" and entry.status in _LIVE:
                index.navigation.append(entry)
            if entry.type != "revision" and entry.status != "trash":
                for address, alt in find_alt_texts(entry.content):
                    shown.setdefault(address, alt)
        # After the loop: `file_key` needs the attachments of the whole file.
        for address, alt in shown.items():
            index.alts.setdefault(self.file_key(address, ""), alt)
        if not has_items and not index.hosts:
            raise RuleViolation(_("The file is not a WordPress export: it has no items."))

    # Items.

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        unknown_types: dict[str, int] = defaultdict(int)
        left_out: Counter[str] = Counter()
        # Everything except posts belongs to the outline, which is read without `wanted`.
        if not wanted:
            yield from self.terms
        for entry in self._entries():
            if isinstance(entry, TermItem):
                continue
            # Attachments inherit their status, so this one is tested after them.
            if entry.status in _LEFT_OUT - {"inherit"}:
                left_out[f"{entry.type}, {entry.status}"] += 1
                continue
            if entry.type == "attachment":
                if not wanted:
                    yield from self._media(entry)
                continue
            if entry.type in ("nav_menu_item", "wp_block", *_SILENT) or entry.status == "inherit":
                is_used = (
                    (entry.type == "wp_block" and entry.post_id in self.index.used_blocks)
                    or (entry.type == "wp_navigation" and entry.status in _LIVE)
                    or any(domain == "nav_menu" for domain, _slug, _name in entry.terms)
                )
                left_out[entry.type] += not is_used
                continue
            type_ = _TYPES.get(entry.type, entry.type)
            if type_ not in post_types:
                unknown_types[entry.type] += 1
                continue
            if not entry.post_id:
                if not wanted:
                    yield Remark(
                        entry.title or entry.link,
                        _("The item has no ID and no address; skipped."),
                        "error",
                    )
                continue
            place = entry.title or entry.slug or entry.post_id
            item = self.read_post(place, partial(self._post, entry, type_), entry.post_id in wanted)
            if isinstance(item, PostItem) or not wanted:
                yield item
        if not wanted:
            for name, number in unknown_types.items():
                message = _("This site has no post type %(name)s: %(number)s items were left out.")
                yield Remark(name or "?", message % {"name": name, "number": number})
            for name, number in self.index.other_terms.items():
                text = _(
                    "This site has no taxonomy %(name)s: %(number)s terms of posts were left out."
                )
                yield Remark(name, text % {"name": name, "number": number})
            if left_out := +left_out:
                listed = ", ".join(
                    f"{name} ({number})" for name, number in left_out.most_common(100)
                )
                yield Remark(self.path.name, _("Left out: %(names)s.") % {"names": listed}, "info")
            yield from self._menus()
            yield from self.remarks

    def _media(self, entry: WordPressEntry) -> Iterator[Item]:
        address = entry.attachment or entry.guid
        place = address[:300] or entry.title or entry.post_id
        texts = [plain_text(entry.content), plain_text(entry.excerpt)]
        # WordPress uses the file name as title if there is none.
        file = Path(unquote(path_in(address)))
        if slug_of(entry.title) not in (slug_of(file.stem), slug_of(file.name)):
            texts.append(entry.title)
        texts = list(dict.fromkeys(text for text in texts if text))
        if not _IMAGE.search(path_in(address)):
            message = _(
                "Files of this type cannot be imported. Links to this file are not changed."
            )
            yield Remark(place, message)
            if words := ", ".join(f"“{text}”" for text in texts):
                yield Remark(place, _("Left out: %(names)s.") % {"names": words})
            return
        kept: list[str] = []
        for text, most in (
            (self.index.alts.get(address, ""), ALT_TEXT_MAX),
            ("\n\n".join(texts), DESCRIPTION_MAX),
        ):
            kept.append(shorten(text, most))
            if rest := text[len(kept[-1]) :].strip():
                message = _("Longer than %(most)s characters; the rest was left out: “%(rest)s”")
                yield Remark(place, message % {"most": most, "rest": rest})
        yield MediaItem(address, *kept)

    def _post(self, entry: WordPressEntry, type_: str, is_wanted: bool) -> PostItem:
        place = f"{entry.title or entry.slug or entry.post_id} ({entry.type} {entry.post_id})"[:280]
        fields: JsonObject = {}
        modules: tuple[object, ...] = ()
        remarks: list[Remark] = []
        if is_wanted:
            fields = self._fields(entry)
            content = WordPressContent(
                allowed=self.allowed[type_],
                attachment=lambda id_: self.index.attachments.get(id_, ""),
                reusable=lambda id_: self.index.reusable.get(id_, ""),
                attached_images=lambda id_: list(self.index.attached.get(id_, ())),
                alt_of=lambda address: self.alt_text(self.file_key(address, entry.link)),
            )
            modules, said = content.read(_with_footnotes(entry), entry.post_id, place)
            remarks += said
            if entry.creator:
                name = self.index.authors.get(entry.creator, ("", ""))[1] or entry.creator
                text = _("Author in the source: %(name)s.") % {"name": name}
                remarks.append(Remark(place, text, "info"))
            if entry.meta.get("_wp_page_template", "default") not in ("", "default"):
                text = _("It used the page template %(name)s.")
                remarks.append(
                    Remark(place, text % {"name": entry.meta["_wp_page_template"]}, "info")
                )
            remarks += self._remarks_on(entry, place)
        group = next(
            (slug for domain, slug, _name in entry.terms if domain == "post_translations"),
            entry.meta.get("_wpml_import_translation_group", ""),
        )
        language = self._language(entry)
        locale = locale_of(language) or self.options.site_locale
        if is_wanted and language and not locale_of(language):
            remarks.append(unknown_locale(place, language, locale))
        uses = {use.slug for use in find_post_type(type_).taxonomies}
        terms = [
            (TAXONOMIES.get(domain, domain), slug)
            for domain, slug, _name in entry.terms
            if domain in TAXONOMIES or domain in uses
        ]
        path = self._path(entry.link)
        is_live = entry.status in _LIVE and path not in ("", "/")
        old_paths: tuple[str, ...] = (path,) if is_live and "?" not in path else ()
        # WordPress redirects the former slug, so the site does too.
        if old_paths and (old_slug := unquote(entry.meta.get("_wp_old_slug", "")).strip("/")):
            old_paths += (f"{path.rpartition('/')[0]}/{old_slug}",)
        # Without an id, the guid or link identifies the post (see `entry_of`), and no query names it.
        names = ("p", "page_id") if entry.post_id.isdigit() else ()
        addresses = [f"?{name}={entry.post_id}" for name in names]
        if path and "?" not in path:
            addresses.append(path)
        return PostItem(
            source_id=entry.post_id,
            place=place,
            type=type_,
            locale=locale,
            title=entry.title or unquote(entry.slug) or _("Untitled"),
            slug=unquote(entry.slug),
            parent_id=entry.parent if entry.parent not in ("", "0") else None,
            fields=fields,
            modules=modules,  # type: ignore[arg-type]  # of the reader, or none
            terms=tuple(dict.fromkeys(terms)),
            featured_image=self.index.attachments.get(entry.meta.get("_thumbnail_id", ""), ""),
            base=entry.link,
            addresses=tuple(addresses),
            old_paths=old_paths,
            published_at=entry.date if entry.status in _LIVE else None,
            created_at=entry.date,
            updated_at=entry.modified,
            author_email=self.index.authors.get(entry.creator, ("", ""))[0],
            translation_group=group,
            remarks=tuple(remarks),
        )

    def _remarks_on(self, entry: WordPressEntry, place: str) -> list[Remark]:
        """Return remarks on the parts of a post that are not imported, and on its state in the source."""
        remarks: list[Remark] = []
        if lost := dropped_from_plain_text(entry.excerpt):
            text = _("Links and images of the excerpt, left out: %(names)s.")
            remarks.append(Remark(place, text % {"names": ", ".join(lost)}))
        if entry.has_password:
            text = _("It had a password in the source; here it has none.")
            remarks.append(Remark(place, text))
        if entry.is_sticky:
            text = _("It was at the top of the list in the source.")
            remarks.append(Remark(place, text, "info"))
        if entry.status in _STATES:
            text = _("Its status in the source: %(status)s.") % {"status": entry.status}
            remarks.append(Remark(place, text, "info"))
        if entry.comments:
            text = _("Comments are not imported: %(number)s left out.") % {"number": entry.comments}
            remarks.append(Remark(place, text))
        used = (*_TITLES, *_DESCRIPTIONS)
        fields = sorted(
            key
            for key, value in entry.meta.items()
            if (_PLACEHOLDER.search(value) if key in used else not _OWN_META.match(key))
            # `a:0:{}` is PHP for an empty array.
            and value not in ("", "a:0:{}")
            and not (key.startswith("_") and _ACF_KEY.fullmatch(value))
            and key != "footnotes"
        )
        if fields:
            text = _("Custom fields of the source, left out: %(names)s.")
            remarks.append(Remark(place, text % {"names": ", ".join(fields)[:500]}))
        return remarks

    def _fields(self, entry: WordPressEntry) -> JsonObject:
        fields: JsonObject = {}
        if excerpt := plain_text(entry.excerpt):
            fields["excerpt"] = excerpt[:EXCERPT_MAX]
        if re.fullmatch(r"-?[0-9]{1,6}", entry.order, re.ASCII) and entry.order != "0":
            fields["orderIndex"] = int(entry.order)
        for name, keys in (("metaTitle", _TITLES), ("metaDescription", _DESCRIPTIONS)):
            text = next((entry.meta[key] for key in keys if entry.meta.get(key)), "")
            if text and not _PLACEHOLDER.search(text):
                fields[name] = " ".join(text.split())
        return fields

    def _language(self, entry: WordPressEntry) -> str:
        """Return an entry's language from Polylang or WPML."""
        return next(
            (slug for domain, slug, _name in entry.terms if domain == "language"),
            entry.meta.get("_wpml_import_language_code", ""),
        )

    def _menus(self) -> Iterator[MenuItem | Remark]:
        for slug, (name, entries) in self.index.menus.items():
            below: dict[str, list[WordPressEntry]] = defaultdict(list)
            ids = {entry.post_id for entry in entries}
            for entry in entries:
                parent = entry.meta.get("_menu_item_menu_item_parent", "0")
                below[parent if parent in ids and parent != entry.post_id else "0"].append(entry)
            for entry in _in_circles(below):
                below["0"].append(entry)
                text = _(
                    "In the source, this menu item is nested below itself, so it was placed at "
                    "the top level."
                )
                yield Remark(f"{name}, {entry.title or entry.post_id}", text)
            yield MenuItem(
                slug, name, slug, self.options.site_locale, self._entries_below("0", below, 0)
            )

        for menu in self.index.navigation:
            name = menu.title or menu.slug or _("Navigation")
            links = self._links_in(parse_blocks(menu.content), 0)
            yield MenuItem(
                f"wp_navigation:{menu.post_id}", name, menu.slug, self.options.site_locale, links
            )

    def _links_in(self, block: Block, depth: int) -> tuple[MenuEntryItem, ...]:
        """Return the links of a navigation block, except links generated from pages."""
        found: list[MenuEntryItem] = []
        for one in block.blocks if depth <= 10 else ():
            below = self._links_in(one, depth + 1)
            if one.name not in ("navigation-link", "navigation-submenu", "home-link"):
                found += below
                continue
            values = one.attributes
            words = [str(values[key]) for key in ("title", "description") if values.get(key)]
            if words:
                listed = ", ".join(f"“{plain_text(word)}”" for word in words)
                text = _("Title and description of a menu item, left out: %(names)s.")
                label = plain_text(str(values.get("label") or ""))
                self._remark_once(Remark(label, text % {"names": listed}))
            post_id = str(values.get("id") or "") if values.get("kind") != "taxonomy" else ""
            found.append(
                MenuEntryItem(
                    label=plain_text(str(values.get("label") or "")),
                    address=str(values.get("url") or ("/" if one.name == "home-link" else "")),
                    post_id=post_id
                    if self.index.types.get(post_id, "attachment") != "attachment"
                    else None,
                    entries=below,
                )
            )
        return tuple(found)

    def _entries_below(
        self, parent: str, below: Mapping[str, list[WordPressEntry]], depth: int
    ) -> tuple[MenuEntryItem, ...]:
        if depth > 10:
            return ()
        found: list[MenuEntryItem] = []
        for entry in sorted(
            below.get(parent, ()), key=lambda one: int(one.order) if one.order.isdigit() else 0
        ):
            kind = entry.meta.get("_menu_item_type", "custom")
            post_id = entry.meta.get("_menu_item_object_id", "") if kind == "post_type" else None
            label = entry.title
            words = [one for one in (plain_text(entry.excerpt), plain_text(entry.content)) if one]
            if words:
                listed = ", ".join(f"“{one}”" for one in words)
                text = _("Title and description of a menu item, left out: %(names)s.")
                self._remark_once(Remark(label or entry.post_id, text % {"names": listed}))
            if kind == "taxonomy" and not label:
                domain = entry.meta.get("_menu_item_object", "")
                label = self.index.term_names.get(
                    (domain, entry.meta.get("_menu_item_object_id", "")), ""
                )
            is_known = bool(post_id) and post_id in self.index.types
            if kind != "custom" and not is_known and entry.post_id in below:
                # The writer turns an entry without address into a heading of the entries below it.
                text = _("The menu item %(label)s has no address on this site.")
                self._remark_once(Remark(label, text % {"label": label[:100]}))
            found.append(
                MenuEntryItem(
                    label=label,
                    address=entry.meta.get("_menu_item_url", ""),
                    post_id=post_id if is_known else None,
                    entries=self._entries_below(entry.post_id, below, depth + 1),
                )
            )
        return tuple(found)

    # Addresses.

    def _path(self, address: str) -> str:
        """Return the path of an address of the site, with the query that names a post; empty for another site."""
        try:
            parts = urlsplit(html.unescape(address.strip()))
            host = (parts.hostname or "").removeprefix("www.")
        except ValueError:
            return ""
        if (parts.scheme and parts.scheme not in ("http", "https")) or (
            parts.netloc and host not in self.index.hosts
        ):
            return ""
        query = parse_qs(parts.query)
        for name in ("p", "page_id", "attachment_id"):
            if name in query:
                return f"?{name}={query[name][0]}"
        if not parts.netloc and not parts.path.startswith("/"):
            return ""
        return unquote(parts.path).rstrip("/") or "/"

    def link_key(self, address: str, base: str) -> str:
        return self._path(resolve_address(address, base))

    def is_own(self, address: str, base: str) -> bool:
        path = self._path(resolve_address(address, base))
        return path not in ("", "/") and not re.search(r"\.\w{2,5}$", path)

    def file_key(self, address: str, base: str) -> str:
        address = resolve_address(address, base)
        known = self._attachment_at(address)
        if known:
            return known
        path = self._path(address)
        if path.startswith("/") and self.site and not address.startswith(("http://", "https://")):
            parts = urlsplit(self.site)
            return f"{parts.scheme}://{parts.netloc}{path}"
        return address if address.startswith(("http://", "https://")) else ""

    def _attachment_at(self, address: str) -> str:
        """Return the address of the attachment at an address, or of which it is a resized copy; empty if none."""
        path = self._path(address)
        if not path.startswith("/"):
            return ""
        key = _file_path(path)
        by_path = self.index.by_path
        return by_path.get(key) or by_path.get(_SIZE.sub("", key)) or ""

    def alt_text(self, key: str) -> str:
        return shorten(self.index.alts.get(key, ""), ALT_TEXT_MAX)

    def linked_file_key(self, address: str, base: str) -> str:
        address = resolve_address(address, base)
        path = self._path(address)
        if path.startswith("?attachment_id="):
            return self.index.attachments.get(path.partition("=")[2], "")
        if not _IMAGE.search(path):
            return ""
        return self._attachment_at(address) or (
            self.file_key(address, base) if "/uploads/" in path else ""
        )


def _in_circles(below: dict[str, list[WordPressEntry]]) -> list[WordPressEntry]:
    """Return one menu item of each parent cycle, removed from it. Otherwise no item of a cycle is reachable."""
    reached: set[str] = set()

    def reach(start: str) -> None:
        waiting = [start]
        while waiting:
            found = [
                entry.post_id
                for entry in below.get(waiting.pop(), ())
                if entry.post_id not in reached
            ]
            reached.update(found)
            waiting += found

    reach("0")
    first: list[WordPressEntry] = []
    for parent in [one for one in below if one != "0"]:
        left: list[WordPressEntry] = []
        for entry in below[parent]:
            if entry.post_id in reached:
                left.append(entry)
                continue
            first.append(entry)
            reached.add(entry.post_id)
            reach(entry.post_id)
        below[parent] = left
    return first


def _with_footnotes(entry: WordPressEntry) -> str:
    """Return the content with its footnotes as a list. WordPress stores them separately."""
    try:
        notes = json.loads(entry.meta.get("footnotes") or "[]")
    except (ValueError, RecursionError):
        notes = []
    items = [
        f"<li>{note.get('content') or ''}</li>"
        for note in (notes if isinstance(notes, list) else ())
        if isinstance(note, Mapping)
    ]
    if not items:
        return entry.content
    # The block shows the notes at its place; here they follow the content.
    bare = re.sub(r"<!-- wp:footnotes\b[^<>]*-->", "", entry.content)
    return f"{bare}<!-- wp:html --><ol>{''.join(items)}</ol><!-- /wp:html -->"


def _file_path(address: str) -> str:
    return unquote(path_in(address)).lower()
